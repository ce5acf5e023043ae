char *strtok_r(char *, const char *, char **);

char *strtok(char *text, const char *separators)
{
    static char *rest;
    return strtok_r(text, separators, &rest);
}
