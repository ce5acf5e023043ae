/* Bytes that are not symbolic are set at once; at a symbolic address, if they are few, one by one. */
void __score_fill(void *, int, __SIZE_TYPE__);
int __score_is_symbolic(__SIZE_TYPE__);

void *memset(void *to, int value, __SIZE_TYPE__ size)
{
    unsigned char *byte = to;
    __SIZE_TYPE__ i;
    if (__score_is_symbolic(value) | __score_is_symbolic(size) || (__score_is_symbolic((__SIZE_TYPE__)to) && size <= 32))
        for (i = 0; i != size; i++) byte[i] = (unsigned char)value;
    else __score_fill(to, value, size);
    return to;
}
