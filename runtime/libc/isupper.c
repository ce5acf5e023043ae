int isupper(int c)
{
    return (unsigned)c - 'A' <= 'Z' - 'A';
}
