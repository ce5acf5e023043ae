void *memmove(void *, const void *, __SIZE_TYPE__);

void bcopy(const void *from, void *to, __SIZE_TYPE__ size)
{
    memmove(to, from, size);
}
