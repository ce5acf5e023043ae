char *strcpy(char *to, const char *from)
{
    char *end = to;
    while ((*end++ = *from++)) {}
    return to;
}
