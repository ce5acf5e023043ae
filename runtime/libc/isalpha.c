int isalpha(int c)
{
    return ((unsigned)c | 32) - 'a' <= 'z' - 'a';
}
