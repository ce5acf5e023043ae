__SIZE_TYPE__ strlen(const char *);
void *malloc(__SIZE_TYPE__);
void __score_copy(void *, const void *, __SIZE_TYPE__);

char *strdup(const char *text)
{
    __SIZE_TYPE__ size = strlen(text) + 1;
    char *made = malloc(size);
    if (made) __score_copy(made, text, size);
    return made;
}
