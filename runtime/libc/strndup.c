__SIZE_TYPE__ strnlen(const char *, __SIZE_TYPE__);
void *malloc(__SIZE_TYPE__);
void __score_copy(void *, const void *, __SIZE_TYPE__);

char *strndup(const char *text, __SIZE_TYPE__ most)
{
    __SIZE_TYPE__ size = strnlen(text, most);
    char *made = malloc(size + 1);
    if (!made) return 0;
    __score_copy(made, text, size);
    made[size] = 0;
    return made;
}
