int isgraph(int c)
{
    return (unsigned)c - '!' <= '~' - '!';
}
