/* A symbolic size is decided first, as in memmove.c. Bytes that are not symbolic are set at once; at a symbolic
 * address, if they are few, one by one. */
void __score_fill(void *, int, __SIZE_TYPE__);
int __score_is_symbolic(__SIZE_TYPE__);
__SIZE_TYPE__ __score_large(__SIZE_TYPE__);

void *memset(void *to, int value, __SIZE_TYPE__ size)
{
    unsigned char *byte = to;
    __SIZE_TYPE__ known = size, i;
    if (__score_is_symbolic(size)) {
        for (known = 0; known != size && known != 4096; known++) {}
        if (known == 4096) known = __score_large(size);
    }
    if (__score_is_symbolic(value) || (__score_is_symbolic((__SIZE_TYPE__)to) && known <= 32))
        for (i = 0; i != known; i++) byte[i] = (unsigned char)value;
    else __score_fill(to, value, known);
    return to;
}
