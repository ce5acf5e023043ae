void *memchr(const void *from, int value, __SIZE_TYPE__ size)
{
    const unsigned char *byte = from;
    for (; size; byte++, size--)
        if (*byte == (unsigned char)value) return (void *)byte;
    return 0;
}
