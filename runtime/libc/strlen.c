__SIZE_TYPE__ strlen(const char *text)
{
    const char *end = text;
    while (*end) end++;
    return (__SIZE_TYPE__)(end - text);
}
