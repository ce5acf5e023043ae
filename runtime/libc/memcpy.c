/* Copies as memmove does: what an overlap gives is undefined. */
void *memmove(void *, const void *, __SIZE_TYPE__);

void *memcpy(void *to, const void *from, __SIZE_TYPE__ size)
{
    return memmove(to, from, size);
}
