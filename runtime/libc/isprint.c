int isprint(int c)
{
    return (unsigned)c - ' ' <= '~' - ' ';
}
