int memcmp(const void *, const void *, __SIZE_TYPE__);

int bcmp(const void *a, const void *b, __SIZE_TYPE__ size)
{
    return memcmp(a, b, size);
}
