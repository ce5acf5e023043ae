int iscntrl(int c)
{
    return ((unsigned)c < ' ') | (c == 127);
}
