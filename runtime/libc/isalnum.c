int isalnum(int c)
{
    return (((unsigned)c | 32) - 'a' <= 'z' - 'a') | ((unsigned)c - '0' <= '9' - '0');
}
