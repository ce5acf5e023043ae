long long strtoll(const char *, char **, int);

long long atoll(const char *text)
{
    return (long long)strtoll(text, 0, 10);
}
