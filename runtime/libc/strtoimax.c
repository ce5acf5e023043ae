long long strtoll(const char *, char **, int);

__INTMAX_TYPE__ strtoimax(const char *text, char **end, int base)
{
    return strtoll(text, end, base);
}
