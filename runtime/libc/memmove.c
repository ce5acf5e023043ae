/* One event for all bytes. A symbolic size is decided first, one branch for each byte. */
void __score_copy(void *, const void *, __SIZE_TYPE__);
int __score_is_symbolic(__SIZE_TYPE__);

void *memmove(void *to, const void *from, __SIZE_TYPE__ size)
{
    __SIZE_TYPE__ known;
    if (__score_is_symbolic(size)) for (known = 0; known != size; known++) {}
    else known = size;
    __score_copy(to, from, known);
    return to;
}
