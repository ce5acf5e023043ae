void *malloc(__SIZE_TYPE__);
__SIZE_TYPE__ sc_heap_size(__UINTPTR_TYPE__);
void __score_fill(void *, int, __SIZE_TYPE__);

void *calloc(__SIZE_TYPE__ count, __SIZE_TYPE__ size)
{
    void *made = malloc(size && count > (__SIZE_TYPE__)-1 / size ? (__SIZE_TYPE__)-1 : count * size);
    if (made) __score_fill(made, 0, sc_heap_size((__UINTPTR_TYPE__)made));
    return made;
}
