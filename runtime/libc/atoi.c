long strtol(const char *, char **, int);

int atoi(const char *text)
{
    return (int)strtol(text, 0, 10);
}
