void *memmove(void *, const void *, __SIZE_TYPE__);

void *mempcpy(void *to, const void *from, __SIZE_TYPE__ size)
{
    return (char *)memmove(to, from, size) + size;
}
