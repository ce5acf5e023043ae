unsigned long long strtoull(const char *, char **, int);

__UINTMAX_TYPE__ strtoumax(const char *text, char **end, int base)
{
    return strtoull(text, end, base);
}
