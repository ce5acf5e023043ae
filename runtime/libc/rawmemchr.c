void *rawmemchr(const void *from, int value)
{
    const unsigned char *byte = from;
    for (; *byte != (unsigned char)value; byte++) {}
    return (void *)byte;
}
