/* The library's names, for code without probes (linked with --wrap): what the C library allocates can be freed by the
 * program, and the other way round. Nothing here is explored, so that sizes are as they are in this run. */
#include <errno.h>

#include "heap.h"

#define NAMED __attribute__((used, externally_visible))

static void *told(void *found)
{
    if (!found) errno = ENOMEM;
    return found;
}

NAMED void *__wrap_malloc(sc_size size)
{
    return told(sc_heap_allocate(size));
}

/* Called through a pointer of the program's, it counts as a function with probes: nothing symbolic is lost in it. (It
 * has a name of its own here: ld crashes where an object says the address of a __wrap_ of its own.) */
static NAMED void released(void *p)
{
    sc_u32 followed = sc.callee == (const void *)released && !SC_IN_INTERRUPT();
    if (followed) sc.callee = 0, sc_followed();
    if (p) sc_heap_free((sc_uptr)p);
    if (followed) sc.returned = (const void *)released;
}

NAMED void __wrap_free(void *p) __attribute__((alias("released")));

NAMED void *__wrap_calloc(sc_size count, sc_size size)
{
    sc_size total;
    sc_u8 *p = __builtin_mul_overflow(count, size, &total) ? 0 : sc_heap_allocate(total);
    if (p) sc_fill_zero(p, total);
    return told(p);
}

NAMED void *__wrap_realloc(void *old, sc_size size)
{
    sc_size before = old ? sc_heap_size((sc_uptr)old) : 0;
    void *p = size || !old ? sc_heap_allocate(size) : 0;
    if (p) sc_copy_bytes(p, old, before < size ? before : size);
    if (old && (p || !size)) sc_heap_free((sc_uptr)old);
    return size ? told(p) : p;
}

NAMED void *__wrap_aligned_alloc(sc_size alignment, sc_size size)
{
    return told(sc_heap_aligned(alignment, size));
}

NAMED void *__wrap_memalign(sc_size alignment, sc_size size)
{
    return told(sc_heap_aligned(alignment, size));
}

NAMED int __wrap_posix_memalign(void **to, sc_size alignment, sc_size size)
{
    void *p = sc_heap_aligned(alignment, size);
    if (p) *to = p;
    return p ? 0 : ENOMEM;
}

NAMED sc_size __wrap_malloc_usable_size(void *p)
{
    return p ? sc_heap_size((sc_uptr)p) : 0;
}

/* newlib's own functions go by these. */
NAMED void *__wrap__malloc_r(void *context, sc_size size)
{
    (void)context;
    return __wrap_malloc(size);
}

NAMED void __wrap__free_r(void *context, void *p)
{
    (void)context;
    released(p);
}

NAMED void *__wrap__calloc_r(void *context, sc_size count, sc_size size)
{
    (void)context;
    return __wrap_calloc(count, size);
}

NAMED void *__wrap__realloc_r(void *context, void *old, sc_size size)
{
    (void)context;
    return __wrap_realloc(old, size);
}

NAMED void *__wrap__memalign_r(void *context, sc_size alignment, sc_size size)
{
    (void)context;
    return __wrap_memalign(alignment, size);
}
