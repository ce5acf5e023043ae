/* The object that an address is in, where the program does not name it: a block of the heap, a variable on the stack or
 * of static storage.
 *
 * It need not be what the program means: the formula says that the address is in these bytes, and inputs are looked for with
 * which it is not. So a variable on the stack that is long gone does no harm. */
#include "state.h"

#ifndef SC_LOCALS
#define SC_LOCALS 6u
#endif

static sc_extent locals[SC_LOCALS] SC_RUNTIME_DATA; /* where there is no room for more, the oldest: what pointers lead to lives long */

/* Variables that instrumented files list, as words, address and size in turn: avr-gcc copies structs as if they were in RAM. The
 * linker gives the section's bounds. */
extern const SC_ROM sc_uptr __start_sc_extents[] __attribute__((weak));
extern const SC_ROM sc_uptr __stop_sc_extents[] __attribute__((weak));

/* A stack that grows downwards: what lies below this function's frame has ended, and so has what the variable lies in. No two that
 * are known overlap: all runs of a path must agree on the object that an address is in. */
void sc_local(const void *p, sc_size n)
{
    const sc_u8 *here = __builtin_frame_address(0), *from = p, *at;
    sc_u32 i;
    if (SC_IN_INTERRUPT()) return;
    sc_taint_clear(p, n);
    for (i = 0; i < sc.locals; i++) {
        at = locals[i].at;
        if (at < here || (sc_uptr)(from - at) < locals[i].size || (sc_uptr)(at - from) < n) locals[i--] = locals[--sc.locals];
    }
    if (sc.locals == SC_LOCALS) return;
    locals[sc.locals].at = p;
    locals[sc.locals++].size = n;
}

static sc_u32 holds(sc_extent object, const void *p, sc_u32 bytes)
{
    return object.size >= bytes && (sc_uptr)p - (sc_uptr)object.at <= object.size - bytes;
}

static sc_extent find(const void *p, sc_u32 bytes)
{
    sc_extent found = {0, 0};
    const SC_ROM sc_uptr *listed;
    sc_u32 i;
    if (sc.block) found = sc.block(p);
    if (found.size) return found;
    for (i = 0; i < sc.locals; i++)
        if (holds(locals[i], p, bytes)) return locals[i];
    for (listed = __start_sc_extents; listed != __stop_sc_extents; listed += 2) {
        found.at = (const void *)listed[0];
        found.size = listed[1];
        if (holds(found, p, bytes)) break;
    }
    return found;
}

sc_extent sc_object(const void *p, sc_u32 bytes)
{
    sc_extent found = find(p, bytes);
    if (found.size > SC_MOST_VARIABLE || !holds(found, p, bytes)) found.size = 0;
    return found;
}
