__SIZE_TYPE__ strspn(const char *, const char *);
__SIZE_TYPE__ strcspn(const char *, const char *);

char *strtok_r(char *text, const char *separators, char **rest)
{
    char *end;
    if (!text) text = *rest;
    text += strspn(text, separators);
    end = text + strcspn(text, separators);
    *rest = *end ? end + 1 : end;
    if (end == text) return 0;
    *end = 0;
    return text;
}
