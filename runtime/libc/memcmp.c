int memcmp(const void *left, const void *right, __SIZE_TYPE__ size)
{
    const unsigned char *a = left, *b = right;
    for (; size; a++, b++, size--)
        if (*a != *b) return *a - *b;
    return 0;
}
