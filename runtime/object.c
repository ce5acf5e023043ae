/* The objects of the program that pointers lead to: variables of static storage are listed in ROM, those on the stack
 * are told when they are declared, blocks of the heap are the heap's.
 *
 * Two questions are asked of them. A read or store at a symbolic address needs the object that the address is in: it
 * need not be what the program means, for the formula says that the address is in these bytes, and inputs are looked
 * for with which it is not. Bounds (bounds.c) need the object that a pointer was made from. Both look by halving. */
#include "state.h"

#ifndef SC_LOCALS /* 12 bytes of RAM each */
#define SC_LOCALS SC_BY_RAM(6u, 16u, 64u)
#endif

/* Those on the stack, the highest address first: what is declared last mostly lies lowest. Where there is no room for
 * more, the oldest stay: what pointers lead to lives long. An object ends with its activation. */
static struct {
    const sc_u8 *at;
    sc_size size;
    sc_u32 depth; /* of its activation */
} locals[SC_LOCALS] SC_RUNTIME_DATA;

/* Variables that instrumented files list, as words, address and size in turn: avr-gcc copies structs as if they were in
 * RAM. The linker gives the section's bounds, the build sorts it (image/extents.py). */
extern const SC_ROM sc_uptr __start_sc_extents[] __attribute__((weak));
extern const SC_ROM sc_uptr __stop_sc_extents[] __attribute__((weak));

#ifdef SC_SNAPSHOTS
void sc_locals_keep(void)
{
    sc_keep(locals, sc.locals * sizeof *locals);
}
#endif

/* How many of the locals begin above p. */
static sc_u32 above(const sc_u8 *p)
{
    sc_u32 low = 0, high = sc.locals;
    while (low < high) {
        sc_u32 middle = (low + high) >> 1;
        if (locals[middle].at > p) low = middle + 1u;
        else high = middle;
    }
    return low;
}

/* Forget those of activations that have ended: deeper ones than that of the last probe, and all that were as deep as
 * one that was entered since. */
static void forget_ended(void)
{
    sc_u32 depth = sc.depth < sc.entered ? sc.depth + 1u : sc.entered;
    while (sc.locals && locals[sc.locals - 1u].depth >= depth) sc.locals--;
    sc.entered = 0xFFFFFFFFu;
}

/* A stack that grows downwards: what lies below this function's frame has ended, and so has what the variable lies in.
 * No two that are known overlap: all runs of a path must agree on the object that an address is in. */
void sc_local(const void *p, sc_size n)
{
    const sc_u8 *here = __builtin_frame_address(0), *from = p;
    sc_u32 first, last;
    sc_clear(p, n);
    if (!n || SC_IN_INTERRUPT()) return; /* a structure without members is nowhere */
    sc_forget_recent();
    forget_ended();
    while (sc.locals && locals[sc.locals - 1u].at < here) sc.locals--;
    first = last = above(from + n - 1u);
    while (last < sc.locals && locals[last].at + locals[last].size > from) last++;
    if (first == last) {
        sc.full = sc.locals == SC_LOCALS;
        if (sc.full) return;
        for (last = sc.locals++; last > first; last--) locals[last] = locals[last - 1u];
    } else {
        sc_u32 by = last - first - 1u;
        sc.locals -= by;
        for (last = first + 1u; by && last < sc.locals; last++) locals[last] = locals[last + by];
    }
    locals[first].at = p;
    locals[first].size = n;
    locals[first].depth = sc.depth;
}

static sc_extent local(sc_u32 i)
{
    sc_extent found;
    found.at = locals[i].at;
    found.size = locals[i].size;
    return found;
}

static sc_extent listed(const SC_ROM sc_uptr *entry)
{
    sc_extent found;
    found.at = (const void *)entry[0];
    found.size = entry[1];
    return found;
}

static sc_u32 holds(sc_extent object, const void *p, sc_uptr bytes)
{
    sc_uptr size = SC_BYTES(object.size);
    return size >= bytes && (sc_uptr)p - (sc_uptr)object.at <= size - bytes;
}

/* The object that this byte is of, on the stack or of static storage, and the one that ends where it begins. Size 0:
 * none. */
sc_extent sc_variable(const void *p, sc_extent *before)
{
    const SC_ROM sc_uptr *low = __start_sc_extents, *high = __stop_sc_extents;
    sc_extent found = {0, 0};
    sc_u32 i;
    before->size = 0;
    forget_ended();
    i = above(p);
    if (i < sc.locals && holds(local(i), p, 1)) {
        if (i + 1u < sc.locals) *before = local(i + 1u);
        found = local(i);
    } else {
        while (low < high) {
            const SC_ROM sc_uptr *middle = low + ((sc_uptr)(high - low) >> 2 << 1);
            if (middle[0] > (sc_uptr)p) high = middle;
            else low = middle + 2;
        }
        if (low == __start_sc_extents || !holds(listed(low - 2), p, 1)) return found;
        if (low - 2 != __start_sc_extents) *before = listed(low - 4);
        found = listed(low - 2);
    }
    before->size = SC_BYTES(before->size);
    if ((const sc_u8 *)before->at + before->size != found.at) before->size = 0;
    if (i < sc.locals && !before->size && sc.full) found.size |= SC_BEHIND_UNKNOWN;
    return found;
}

sc_u32 sc_ends_with(const void *p)
{
    sc_u32 i = above(p);
    return i < sc.locals && holds(local(i), p, 1) ? locals[i].depth : 1u;
}

static sc_extent around(const void *p)
{
    sc_extent found = {0, 0}, before;
    sc_u32 freed = 0;
    if (SC_CONSTANT(p)) return found; /* the host knows it */
    if (sc.block) found = sc.block(p, &freed);
    if (freed) found.size = 0;
    if (!found.at) found = sc_variable(p, &before);
    found.size = SC_BYTES(found.size);
    return found;
}

sc_extent sc_object(const void *p, sc_u32 bytes)
{
    sc_extent found = around(p);
    if (found.size > SC_MOST_VARIABLE || !holds(found, p, bytes)) found.size = 0;
    return found;
}

sc_u32 sc_is_object(const void *p, sc_u32 bytes)
{
    return holds(around(p), p, bytes);
}
