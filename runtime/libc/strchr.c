char *strchr(const char *text, int wanted)
{
    for (; *text != (char)wanted; text++)
        if (!*text) return 0;
    return (char *)text;
}
