/* The parts of a condition, inline, where code may be large: what nearly all conditions of a path are is one piece then
 * (branch.c), and so are short events. A condition took five calls, and each way back costs an emulator as much as some
 * twenty instructions, since it has to look for the code that it leads to. */
#ifndef SC_STRAIGHT_H
#define SC_STRAIGHT_H

#include "state.h"

extern sc_u8 sc_chunk[SC_CHUNK]; /* of the event stream: sc.fill bytes are in it */

#ifdef SC_QUIET_STATE
#define SC_PIECE static inline __attribute__((always_inline, unused))

enum { SC_LONGEST = 1 + 5 + 5 + 1 + 10 }; /* bytes of a short event: its activation, head, taint and address */

/* Whether the next bytes of the stream may be put straight into the chunk: there is room, and the run is no special
 * one. */
SC_PIECE sc_u32 sc_has_room(void)
{
    return !(sc.flags & (SC_RUN_VECTORS | SC_RUN_EAGER)) && sc.chunk - sc.fill >= SC_LONGEST;
}

SC_PIECE sc_u8 *sc_put(sc_u8 *to, sc_uptr v)
{
    for (; v > 127u; v >>= 7) *to++ = (sc_u8)(v | 128u);
    *to++ = (sc_u8)v;
    return to;
}

SC_PIECE sc_u8 *sc_put_signed(sc_u8 *to, sc_iptr v)
{
    return sc_put(to, (sc_uptr)v << 1 ^ (v < 0 ? ~(sc_uptr)0 : 0));
}

/* The event of a condition on one leaf, all of it symbolic: x is its head; `masked`: the leaf's taint is said; p: its
 * address, or null. */
SC_PIECE void sc_short_event(sc_u32 x, sc_u32 masked, const void *p)
{
    sc_u8 *to = sc_chunk + sc.fill;
    if (sc.flags & SC_RUN_VECTORS) return;
    if (!sc_has_room()) {
        sc_event(x & 1u);
        if (masked) sc_varint(1);
        if (p) sc_address(p);
        return;
    }
    if (sc.depth != sc.last_depth) {
        to = sc_put(to, SC_EVENT_FRAME << 1);
        to = sc_put_signed(to, (sc_i32)(sc.depth - sc.last_depth));
        sc.last_depth = sc.depth;
    }
    to = sc_put(to, x);
    if (masked) *to++ = 1;
    if (p) {
        to = sc_put_signed(to, (sc_iptr)((sc_uptr)p - sc.last_address));
        sc.last_address = (sc_uptr)p;
    }
    sc.fill = (sc_u32)(to - sc_chunk);
}

/* Whether each of n bytes at p is symbolic; 8 at most. */
SC_PIECE sc_u32 sc_all_symbolic(const void *p, sc_u32 n)
{
    sc_uptr at = (sc_uptr)p - SC_QUIET_BASE;
    sc_u32 turn = (sc_u32)at & 31u, all = (1u << n) - 1u;
    if (at >= SC_QUIET_SIZE || !sc_any) return 0;
    return ((turn + n <= 32u ? sc_taint_bits[at >> 5] >> turn : sc_taint_get(p, n)) & all) == all;
}
#else
#define SC_PIECE static __attribute__((unused))
#endif

/* A number of that many bytes, at any address. */
SC_PIECE sc_u64 sc_load(const void *p, sc_u32 bytes)
{
    const struct { sc_u32 low, high; } __attribute__((packed)) *wide = p;
    const struct { sc_d value; } __attribute__((packed)) *half = p;
    if (bytes == 1) return *(const sc_u8 *)p;
    if (bytes == 2) return half->value;
    return bytes == 4 ? wide->low : wide->low | (sc_u64)wide->high << 32;
}

SC_PIECE void sc_hash_number(sc_u64 v, sc_u32 bytes)
{
    sc_mix(&sc.operand, (sc_u32)v);
    if (bytes == 8) sc_mix(&sc.operand, (sc_u32)(v >> 32));
}

#endif
