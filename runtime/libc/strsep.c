__SIZE_TYPE__ strcspn(const char *, const char *);

char *strsep(char **rest, const char *separators)
{
    char *text = *rest, *end;
    if (!text) return 0;
    end = text + strcspn(text, separators);
    if (*end) *end++ = 0;
    else end = 0;
    *rest = end;
    return text;
}
