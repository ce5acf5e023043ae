int isspace(int c)
{
    return (c == ' ') | ((unsigned)c - '\t' <= '\r' - '\t');
}
