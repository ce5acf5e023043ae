int tolower(int c)
{
    return c + (((unsigned)c - 'A' <= 'Z' - 'A') << 5);
}
