int isxdigit(int c)
{
    return ((unsigned)c - '0' <= '9' - '0') | (((unsigned)c | 32) - 'a' <= 'f' - 'a');
}
