void *memrchr(const void *from, int value, __SIZE_TYPE__ size)
{
    const unsigned char *byte = from;
    while (size--)
        if (byte[size] == (unsigned char)value) return (void *)(byte + size);
    return 0;
}
