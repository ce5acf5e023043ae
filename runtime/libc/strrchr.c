char *strrchr(const char *text, int wanted)
{
    const char *last = 0;
    for (;; text++) {
        if (*text == (char)wanted) last = text;
        if (!*text) return (char *)last;
    }
}
