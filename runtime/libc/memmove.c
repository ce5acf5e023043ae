/* One event for all bytes. A symbolic size is decided first, one branch for each byte; of 4,096 and more it is used as
 * it is, and that is noted. At a symbolic address a few bytes are read and stored one by one, each as any element of
 * what may lie there; of many the address is used as it is. */
void __score_copy(void *, const void *, __SIZE_TYPE__);
int __score_is_symbolic(__SIZE_TYPE__);
__SIZE_TYPE__ __score_large(__SIZE_TYPE__);

void *memmove(void *to, const void *from, __SIZE_TYPE__ size)
{
    unsigned char held[32]; /* all are read before the first is stored: they may overlap */
    __SIZE_TYPE__ known, i;
    if (__score_is_symbolic(size)) {
        for (known = 0; known != size && known != 4096; known++) {}
        if (known == 4096) known = __score_large(size);
    } else known = size;
    if (known <= sizeof held && (__score_is_symbolic((__SIZE_TYPE__)to) | __score_is_symbolic((__SIZE_TYPE__)from))) {
        for (i = 0; i != known; i++) held[i] = ((const unsigned char *)from)[i];
        for (i = 0; i != known; i++) ((unsigned char *)to)[i] = held[i];
    } else __score_copy(to, from, known);
    return to;
}
