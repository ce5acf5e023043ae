int islower(int c)
{
    return (unsigned)c - 'a' <= 'z' - 'a';
}
