int toupper(int c)
{
    return c - (((unsigned)c - 'a' <= 'z' - 'a') << 5);
}
