int ispunct(int c)
{
    return ((unsigned)c - '!' <= '~' - '!') &
           !((((unsigned)c | 32) - 'a' <= 'z' - 'a') | ((unsigned)c - '0' <= '9' - '0'));
}
