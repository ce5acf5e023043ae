char *strstr(const char *text, const char *wanted)
{
    for (;; text++) {
        const char *a = text, *b = wanted;
        while (*b && *a == *b) a++, b++;
        if (!*b) return (char *)text;
        if (!*text) return 0;
    }
}
