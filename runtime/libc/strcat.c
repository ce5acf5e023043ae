char *strcat(char *to, const char *from)
{
    char *end = to;
    while (*end) end++;
    while ((*end++ = *from++)) {}
    return to;
}
