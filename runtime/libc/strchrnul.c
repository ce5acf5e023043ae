char *strchrnul(const char *text, int wanted)
{
    for (; *text != (char)wanted; text++)
        if (!*text) break;
    return (char *)text;
}
