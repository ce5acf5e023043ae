/* Stores at symbolic addresses: each element of the object may be the one that changes, so all of them are symbolic
 * now.
 *
 * The host gets what the object holds before the store, as of reads, and makes of each element: the value if the
 * address is its own, else what it was. */
#include "state.h"

#define MOST_ELEMENTS 256u /* where a pointer is symbolic: bytes */

/* Taint what may have changed: from the first place on every one that the element may be at. */
static void spread(sc_u32 at, const sc_u8 *object, sc_u32 size, sc_u32 stride, sc_u32 bytes)
{
    for (; at <= size - bytes; at += stride) sc_taint_set(object + at, bytes);
}

#ifdef SC_FAMILIES
static void lost_there(const sc_u8 *at, sc_u32 size)
{
    sc_taint_lost(at, size);
}

static void taint_all(const sc_u8 *at, sc_u32 size)
{
    sc_taint_set(at, size);
}

/* The address may be in several objects: all of them change, as bytes. */
static sc_u32 store_in_several(sc_frame *f, const SC_ROM sc_d *d, sc_u64 taint, const sc_uptr *words, sc_u32 bytes)
{
    sc_several several;
    const sc_uptr *pointer =
        words + 2 + (KIND(d[5]) == SLOT && BYTES(d[5]) > sizeof *words ? BYTES(d[5]) / sizeof *words : 1u);
    sc_uptr beyond = sc_beyond(d[3], taint, d[6], words[0], *pointer);
    if (!sc_together(&several, (const sc_u8 *)words[1], beyond, bytes, MOST_ELEMENTS)) return 0;
    sc_each(&several, lost_there); /* before the event begins */
    sc_speak(f, d + 4, words + 2, SC_CONDITION | 1u, 0, 0);
    sc_send_several(&several);
    sc_condition(sc.last_site << 1 | 1u);
    sc_each(&several, taint_all);
    return 1;
}
#else
#define store_in_several(f, d, taint, words, bytes) 0
#endif

/* If the address is symbolic: its formula's leaves, the value and the object, or all of those it may be in. Returns 1
 * if the store is done with. */
static sc_u32 choose(sc_frame *f, const SC_ROM sc_d *d, sc_uptr *words, sc_u32 bytes)
{
    const sc_u8 *object;
    sc_u64 taint = sc_look(f, d + 4, words + 2) >> 2; /* of the address: the first leaf is the value */
    sc_u32 stride = d[2], size, inside, anywhere;
    if (!taint) return 0;
    anywhere = (taint & SC_POINTERS(d[3])) != 0; /* the pointer is symbolic, too */
    if (anywhere) stride = 1;
    size = stride ? sc_size_of(d[1] + SC_ARRAY(d[3], taint, d + 4, words), words, bytes) : 0;
    object = (const sc_u8 *)words[1];
    if (stride && size / stride > MOST_ELEMENTS) size = 0;
    inside = size && words[0] - words[1] <= size - bytes;
    if (!d[1] && inside && anywhere && store_in_several(f, d, taint, words, bytes)) return 1;
    sc_speak(f, d + 4, words + 2, (size ? SC_CONDITION : 0u) | inside, inside ? object : 0, size);
    if (!size) return 0;
    if (!d[1]) sc_varint(size << 2 | anywhere << 1);
    sc_address(object);
    if (inside) sc_send_object(object, size);
    sc_condition(sc.last_site << 1 | inside);
    if (inside) spread((sc_u32)(words[0] - words[1]) % stride, object, size, stride, bytes);
    return inside;
}

void sc_store(sc_frame *f, sc_uint at, sc_uptr *words)
{
    const SC_ROM sc_d *d = DESCRIPTOR(f, at); /* of the plain assignment; that of the store follows */
    if (!sc_begin(f, at + 4)) sc_watch(f, at + 4, 4, words + 2);
    else if (choose(f, d + 4, words, BYTES(d[1]))) {
        VALUE_BYTES(d[1]);
        return;
    }
    words[1] = words[0]; /* the value follows */
    sc_assign(f, at, words + 1);
}
