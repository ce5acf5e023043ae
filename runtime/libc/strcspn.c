__SIZE_TYPE__ strcspn(const char *text, const char *refused)
{
    const char *end = text, *c;
    for (; *end; end++)
        for (c = refused; *c; c++)
            if (*c == *end) return (__SIZE_TYPE__)(end - text);
    return (__SIZE_TYPE__)(end - text);
}
