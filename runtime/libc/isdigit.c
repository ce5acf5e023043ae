int isdigit(int c)
{
    return (unsigned)c - '0' <= '9' - '0';
}
