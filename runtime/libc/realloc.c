/* Moves always: so pointers to what it was before are found. */
void *malloc(__SIZE_TYPE__);
void sc_heap_free(__UINTPTR_TYPE__);
__SIZE_TYPE__ sc_heap_size(__UINTPTR_TYPE__);
void __score_copy(void *, const void *, __SIZE_TYPE__);

void *realloc(void *old, __SIZE_TYPE__ size)
{
    __SIZE_TYPE__ before, after;
    void *made;
    if (!old) return malloc(size);
    before = sc_heap_size((__UINTPTR_TYPE__)old);
    if (size == 0) {
        sc_heap_free((__UINTPTR_TYPE__)old);
        return 0;
    }
    made = malloc(size);
    if (!made) return 0;
    after = sc_heap_size((__UINTPTR_TYPE__)made);
    __score_copy(made, old, before < after ? before : after);
    sc_heap_free((__UINTPTR_TYPE__)old);
    return made;
}
