/* Separate variables that one pointer may lead to: `*outs[i] = 1;`, where outs[] holds &a, &b and &c.
 *
 * The formula of such a pointer is a choice among what a table holds. So whenever a pointer is read and nobody knows
 * from which place of its table, the variables that all of the table's pointers lead to are noted: they belong together
 * from then on, and with all that one of them belonged to before. A read or store at a symbolic address in one of them
 * says what all of them hold, and the host makes one formula of it.
 *
 * Nothing rests on this being right. That the address is in one of these is a condition as "in this object" is: what is
 * missing costs a test, what is too much a few bytes. But bounds are judged by the object that the run's own pointer
 * leads to. So the access has to be within for all of them; else each object is a test, with its own bounds. And all
 * runs of a path must agree, wherever the pointer leads in them. So pointers that are symbolic themselves do not count,
 * what belongs together does not depend on which of it is looked at, and the order is that in which they were noted. */
#include "state.h"

#ifdef SC_FAMILIES
#ifndef SC_POINTED
#define SC_POINTED SC_BY_RAM(0u, 16u, 64u) /* 64 at most */
#endif
#define MOST_POINTERS 64u /* in a table */
#define FAR 0x7000u /* bytes: no object is as large; below a pointer is farther */

static const sc_u8 *noted[SC_POINTED] SC_RUNTIME_DATA; /* the objects, */
static sc_u8 family_of[SC_POINTED] SC_RUNTIME_DATA;     /* which of them each belongs to, */
static sc_d inside_of[SC_POINTED] SC_RUNTIME_DATA;      /* and how far into it pointers lead, at most */

/* The object's number, if there is room for it, else SC_POINTED. */
static sc_u32 number_of(const sc_u8 *object)
{
    sc_u32 i;
    for (i = 0; i < sc.pointed && noted[i] != object; i++) {}
    if (i == sc.pointed && i < SC_POINTED) {
        noted[i] = object;
        family_of[i] = (sc_u8)i;
        inside_of[i] = 0;
        sc.pointed++;
    }
    return i;
}

/* Those of family `from` are of family `to` now. */
static void merge(sc_u8 to, sc_u8 from)
{
    sc_u32 i;
    for (i = 0; i < sc.pointed; i++)
        if (family_of[i] == from) family_of[i] = to;
}

void sc_point(const sc_u8 *table, sc_u32 size)
{
    sc_u32 at, i, first = SC_POINTED;
    const sc_u8 *p, *object;
    if (table == sc.pointers || size > MOST_POINTERS * sizeof p) return;
    if (SC_CONSTANT(table)) sc.pointers = table; /* the same pointers again need no look */
    for (at = 0; at + sizeof p <= size; at += __alignof__(p)) {
        if (sc_taint_get(table + at, sizeof p)) continue;
        sc_copy_bytes(&p, table + at, sizeof p);
        if (!sc_object(p, 1).size) continue;
        object = sc_object(p, 1).at;
        i = number_of(object);
        if (i == SC_POINTED) continue;
        if (inside_of[i] < p - object) inside_of[i] = (sc_d)(p - object);
        if (first == SC_POINTED) first = family_of[i];
        else merge((sc_u8)first, family_of[i]);
    }
}

sc_uptr sc_beyond(sc_u32 pointer, sc_u64 taint, sc_u32 leaf, sc_uptr address, sc_uptr value)
{
    if (!(taint & SC_POINTERS(pointer))) return 0;
    return (pointer & ~SC_BEHIND) == 1u && KIND(leaf) == SLOT && !(taint >> 2) ? address - value : FAR;
}

/* Whether the access may leave this object, wherever in it the pointer leads. */
static sc_u32 may_leave(sc_u32 i, sc_extent object, sc_uptr beyond, sc_u32 bytes)
{
    return beyond && (beyond >= FAR || inside_of[i] + beyond + bytes > object.size);
}

sc_u32 sc_together(sc_several *several, const sc_u8 *object, sc_uptr beyond, sc_u32 bytes, sc_u32 most)
{
    sc_u32 i, family, whole = 0;
    several->count = 0;
    several->which = 0;
    for (i = 0; i < sc.pointed && noted[i] != object; i++) {}
    if (i == sc.pointed) return 0;
    family = family_of[i];
    for (i = 0; i < sc.pointed; i++)
        if (family_of[i] == family) {
            sc_extent found = sc_object(noted[i], 1);
            if (!found.size || found.at != noted[i]) continue; /* it has ended since */
            if (may_leave(i, found, beyond, bytes)) return 0;
            if (found.size < bytes) continue;
            whole += (sc_u32)found.size;
            several->count++;
            several->which |= (sc_u64)1 << i;
        }
    return several->count > 1u && whole <= most;
}

void sc_each(const sc_several *several, sc_each_object *what)
{
    sc_u32 i;
    for (i = 0; i < SC_POINTED; i++)
        if (several->which >> i & 1u) what(noted[i], (sc_u32)sc_object(noted[i], 1).size);
}

static void tell(const sc_u8 *at, sc_u32 size)
{
    sc_varint(size);
    sc_address(at);
    sc_send_object(at, size);
}

void sc_send_several(const sc_several *several)
{
    sc_varint(several->count << 1 | 1u);
    sc_each(several, tell);
}
#endif
