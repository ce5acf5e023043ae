__SIZE_TYPE__ strcspn(const char *, const char *);

char *strpbrk(const char *text, const char *wanted)
{
    text += strcspn(text, wanted);
    return *text ? (char *)text : 0;
}
