long strtol(const char *, char **, int);

long atol(const char *text)
{
    return (long)strtol(text, 0, 10);
}
