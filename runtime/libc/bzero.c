void *memset(void *, int, __SIZE_TYPE__);

void bzero(void *to, __SIZE_TYPE__ size)
{
    memset(to, 0, size);
}
