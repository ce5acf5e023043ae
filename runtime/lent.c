/* What code without probes may know of the program's memory: it can read there at any of its calls, also long after.
 *
 * As a garbage collector marks: what its calls were given, as arguments or as results, the variables that it names, and
 * whatever pointers in all of these lead to. Objects have the size that they are known to have (object.c, the heap);
 * another pointer is taken to reach REACH bytes. Nobody can know what such code has kept, so an object stays lent until
 * the test or its activation ends. Where there is no room for more, all memory counts as lent; where there is hardly
 * any flash, from the first. */
#include "state.h"

#include <stdarg.h>

/* The call that sc_opaque announced finds it, unless its callee has probes. */
static sc_uint found_by_call(sc_u32 found)
{
    if (found && !sc.given) sc.given = SC_EVENT_FOUND;
    return found ? 2u : 0;
}

#if SC_RAM_SIZE < 0x1000
static sc_u32 reach(void)
{
    return sc_any && sc_taint_get((const void *)SC_RAM_BASE, SC_RAM_SIZE);
}

void sc_lend(const void *p, sc_uint pointer)
{
    (void)p;
    (void)pointer;
    if (!SC_IN_INTERRUPT()) sc.reach = reach;
}

sc_uint sc_finds(sc_uint pointers, sc_uint numbers, ...)
{
    (void)pointers;
    (void)numbers;
    return SC_IN_INTERRUPT() ? 0 : found_by_call(reach());
}

sc_u32 sc_lent_to_handlers(const void *p, sc_size n)
{
    (void)p;
    (void)n;
    return 1;
}
#else

#ifndef SC_LENT /* 8 bytes of RAM each, or 16 */
#define SC_LENT SC_BY_RAM(4u, 16u, 64u)
#endif
#define ALL 0xFFFFu /* in their number: some are not known */

static sc_extent lent[SC_LENT] SC_RUNTIME_DATA;
static sc_u32 settled SC_RUNTIME_DATA; /* so many of these stay as they are: the others are for one look only */
static sc_u32 grown SC_RUNTIME_DATA;   /* one of them became larger */

/* The variables that code without probes names: pairs of address and size. The linker gives the section's bounds. */
extern const SC_ROM sc_uptr __start_sc_named[] __attribute__((weak));
extern const SC_ROM sc_uptr __stop_sc_named[] __attribute__((weak));

/* The program's object that the byte is of; size 0: it is none that is known. */
static sc_extent object_at(const void *p)
{
    sc_extent found = {0, 0}, before;
    sc_u32 freed = 0;
    if (sc.block) found = sc.block(p, &freed);
    if (freed) found.size = 0;
    if (!found.at) found = sc_variable(p, &before);
    found.size = SC_BYTES(found.size);
    return found;
}

/* One more, or as much of it as was not lent yet. Two that overlap become one. */
static void add(const void *from, sc_uptr size)
{
    const sc_u8 *at = from;
    sc_u32 i;
    for (i = 0; i < sc.lent && sc.lent != ALL; i++) {
        const sc_u8 *known = lent[i].at;
        if (at + size < known || known + lent[i].size < at) continue;
        if (i < settled && (at < known || known + lent[i].size < at + size)) continue;
        if (at < known || known + lent[i].size < at + size) grown = 1;
        if (at + size > known + lent[i].size) lent[i].size = (sc_size)(at + size - known);
        if (at < known) {
            lent[i].size += (sc_size)(known - at);
            lent[i].at = at;
        }
        return;
    }
    if (i >= SC_LENT) {
        sc.lent = ALL;
        return;
    }
    lent[i].at = at;
    lent[i].size = size;
    sc.lent = i + 1u;
}

/* What p leads to, if it is known: the object there, and one that ends there (`end` of a pair, walked backwards). */
static sc_u32 leads(const void *p)
{
    sc_extent object = object_at(p), before = {0, 0};
    if (!object.size || object.at == p) before = object_at((const sc_u8 *)p - 1);
    if (before.size && (const sc_u8 *)before.at + before.size == p) add(before.at, before.size);
    if (object.size) add(object.at, object.size);
    return object.size != 0;
}

/* A value that may be a pointer; whether symbolic data lies there, where no object is known. */
static sc_u32 follow(const void *p)
{
    return p && !leads(p) && sc_taint_get(p, SC_REACH);
}

extern const SC_ROM sc_uptr __start_sc_extents[] __attribute__((weak)); /* sorted by address (object.c) */
extern const SC_ROM sc_uptr __stop_sc_extents[] __attribute__((weak));

/* Whether a value at an odd place is taken for a pointer: packed structs, and pointers copied as bytes, are rare. */
static sc_u32 plausible(sc_uptr p)
{
    const SC_ROM sc_uptr *first = __start_sc_extents;
    /* as integers: gcc takes end[-2] for an error */
    sc_uptr count = ((sc_uptr)__stop_sc_extents - (sc_uptr)first) / sizeof *first;
    if (p - SC_STACK_BASE < SC_STACK_TOP - SC_STACK_BASE) return 1;
    if (count && p >= first[0] && p <= first[count - 2] + SC_BYTES(first[count - 1])) return 1;
    return sc.block && object_at((const void *)p).size;
}

/* How far one can read where nobody knows the object: to the stack's top, else to the end of the page, as memory may
 * end there. */
static sc_uptr readable(sc_uptr at, sc_uptr end)
{
    sc_uptr most = (at | 4095u) + 1u;
    if (at - SC_STACK_BASE < SC_STACK_TOP - SC_STACK_BASE) most = SC_STACK_TOP;
    else if (object_at((const void *)at).size) return end;
    return end < most ? end : most;
}

struct odd {
    const void *p;
} __attribute__((packed, may_alias));

/* Whether something in these bytes is symbolic, or a pointer there leads to what is. */
static sc_u32 look(const void *from, sc_uptr size)
{
    sc_uptr at = (sc_uptr)from, end = readable(at, at + size);
    const void *p;
    if (sc_taint_get(from, size)) return 1;
    for (; at + sizeof p <= end; at++) {
        p = ((const struct odd *)at)->p;
        if ((at % __alignof__(void *) == 0 || plausible((sc_uptr)p)) && follow(p)) return 1;
    }
    return 0;
}

/* Those of activations that have ended are nobody's. */
static void drop_dead(void)
{
    sc_uptr here = (sc_uptr)__builtin_frame_address(0);
    sc_u32 i, kept = 0;
    if (sc.lent == ALL || here - SC_STACK_BASE > SC_STACK_TOP - SC_STACK_BASE) return;
    for (i = 0; i < sc.lent; i++)
        if ((sc_uptr)lent[i].at - SC_STACK_BASE >= here - SC_STACK_BASE) lent[kept++] = lent[i];
    sc.lent = kept;
}

static sc_u32 finds(void)
{
    const SC_ROM sc_uptr *listed;
    sc_u32 i;
    for (listed = __start_sc_named; listed != __stop_sc_named; listed += 2)
        if (look((const void *)listed[0], listed[1])) return 1;
    do { /* there may become more of them meanwhile, or larger ones */
        grown = 0;
        for (i = 0; i < sc.lent && sc.lent != ALL; i++)
            if (lent[i].size && look(lent[i].at, lent[i].size)) return 1;
    } while (grown && sc.lent != ALL);
    return sc.lent == ALL;
}

static sc_u32 reach(void)
{
    if (!sc_any) return 0;
    drop_dead();
    return finds();
}

static void lend(const void *p, sc_uint pointer)
{
    if (!p || sc.lent == ALL) return;
    if (!leads(p) && pointer && !SC_CONSTANT(p)) add(p, SC_REACH);
}

void sc_lend(const void *p, sc_uint pointer)
{
    if (SC_IN_INTERRUPT()) return;
    sc.reach = reach;
    lend(p, pointer);
}

/* Whether the callee has probes is known only after a call through a pointer; it may have changed by then what it
 * found. */
sc_uint sc_finds(sc_uint pointers, sc_uint numbers, ...)
{
    va_list tail;
    sc_u32 found, kept, i;
    if (SC_IN_INTERRUPT() || !sc_any) return 0;
    drop_dead();
    kept = sc.lent;
    settled = kept == ALL ? 0 : kept;
    va_start(tail, numbers);
    for (i = 0; i < pointers + numbers; i++) lend(va_arg(tail, const void *), i < pointers);
    va_end(tail);
    found = finds();
    sc.lent = kept;
    settled = 0;
    return found_by_call(found);
}

/* Variables that handlers without probes name. */
extern const SC_ROM sc_uptr __start_sc_shared[] __attribute__((weak));
extern const SC_ROM sc_uptr __stop_sc_shared[] __attribute__((weak));

static sc_u32 overlap(sc_extent object, const void *p, sc_size n)
{
    return (sc_uptr)p - (sc_uptr)object.at < object.size || (sc_uptr)object.at - (sc_uptr)p < n;
}

/* Whether a handler without probes can know some of these bytes otherwise than by their name. */
sc_u32 sc_lent_to_handlers(const void *p, sc_size n)
{
    const SC_ROM sc_uptr *listed;
    const void *const *word;
    sc_u32 i;
    for (i = 0; i < sc.lent; i++)
        if (sc.lent == ALL || overlap(lent[i], p, n)) return 1;
    for (listed = __start_sc_shared; listed != __stop_sc_shared; listed += 2)
        for (word = (const void *const *)listed[0]; (sc_uptr)(word + 1) <= listed[0] + listed[1]; word++) {
            sc_extent object = object_at(*word);
            if (!object.size) {
                object.at = *word;
                object.size = SC_REACH;
            }
            if (overlap(object, p, n)) return 1;
        }
    return 0;
}
#endif
