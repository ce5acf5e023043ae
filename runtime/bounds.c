/* Bounds: an access must stay in the object that its pointer was made from, wherever arithmetic led it.
 *
 * At the access itself it is too late to ask: `*p++` is already in the neighbour, and `end[-1]` is right where `end` is one
 * past an array. So the program says beside each access the pointer that its address was computed from (origins.py of the
 * front-end), as Jones and Kelly check arithmetic (AADEBUG 1997), but only where something is read or stored. Objects that
 * nobody listed are not checked, but counted. With a symbolic address or size, "it stays in the object" is a condition whose
 * other side is searched for. */
#include "state.h"

#define EXACT 0x8000u /* in a descriptor: the origin is the address of an object's, not a pointer that may be one past it */

#ifndef SC_STRAYS /* 12 bytes of RAM each */
#define SC_STRAYS SC_BY_RAM(6u, 12u, 32u)
#endif
#define NO_ADDRESS 65u /* below: arguments and results, which are asked for once */

sc_uint sc_strays SC_RUNTIME_DATA;

static struct {
    const volatile void *where, *value, *origin;
} strays[SC_STRAYS] SC_RUNTIME_DATA;

static sc_u32 fits(sc_extent object, const void *p, sc_uptr n)
{
    return n <= object.size && (sc_uptr)p - (sc_uptr)object.at <= object.size - n;
}

/* What an access is: 0 if it is right, or nobody can tell; `object`: where it is or should have been, at null: nobody knows. */
static sc_u32 judge(const void *p, const void *origin, sc_uptr n, sc_u32 exact, sc_extent *object)
{
    sc_extent before;
    sc_u32 freed = 0, unknown;
    object->at = 0;
    object->size = 0;
    if (sc.block) *object = sc.block(origin, &freed);
    if (freed) return SC_VERDICT_USE_AFTER_FREE;
    if (!object->at) {
        *object = sc_variable(origin, &before);
        unknown = object->size & SC_BEHIND_UNKNOWN && !exact;
        if (object->size & SC_ONE_OF_MANY) object->at = 0;
        object->size = object->at ? SC_BYTES(object->size) : 0;
        if (!object->size) {
            sc.unchecked++;
            return 0;
        }
        /* A pointer to the object's first byte may as well be one past the object before it. */
        if ((const sc_u8 *)p < (const sc_u8 *)origin && origin == object->at && !exact) {
            if (fits(before, p, n)) *object = before;
            else if (unknown) {
                object->at = 0;
                sc.unchecked++;
                return 0;
            }
        }
    }
    return fits(*object, p, n) ? 0 : SC_VERDICT_OUT_OF_BOUNDS;
}

/* Where the object begins that a pointer to its first byte, or to another one, means; null: nobody knows. */
static const void *begin_of(const volatile void *p)
{
    sc_extent found = {0, 0}, before;
    sc_u32 freed = 0;
    if (sc.block) found = sc.block((const void *)p, &freed);
    if (!found.at) found = sc_variable((const void *)p, &before);
    return found.at;
}

static sc_u32 find(const volatile void *where)
{
    sc_u32 i = 0;
    while (i < sc_strays && strays[i].where != where) i++;
    return i;
}

static void forget(sc_u32 i)
{
    if (i < sc_strays) strays[i] = strays[--sc_strays];
}

void sc_stray(const volatile void *where, const volatile void *value, const volatile void *origin)
{
    if (SC_IN_INTERRUPT()) return;
    forget(find(where));
    if (value == origin || begin_of(value) == begin_of(origin) || sc_strays == SC_STRAYS) return;
    strays[sc_strays].where = where;
    strays[sc_strays].value = value;
    strays[sc_strays++].origin = origin;
}

const volatile void *sc_recall(const volatile void *where, const volatile void *value)
{
    sc_u32 i = find(where);
    if (i == sc_strays || SC_IN_INTERRUPT()) return value;
    if (strays[i].value == value) value = strays[i].origin;
    if ((sc_uptr)where < NO_ADDRESS) forget(i);
    return value;
}

static void __attribute__((noreturn)) fail(sc_u32 verdict, const volatile void *p)
{
    sc.address = (sc_uptr)p;
    sc_mix(&sc.path, sc.last_site << 1); /* where the test ends is part of its path */
    sc_end(verdict, 0);
}

void sc_within(sc_frame *f, sc_uint at, const volatile void *p, const volatile void *origin, sc_size n)
{
    const SC_ROM sc_d *d = sc_begin(f, at);
    sc_extent object;
    sc_u32 verdict;
    if (!d || !n) return;
    verdict = judge((const void *)p, (const void *)origin, n, d[1] & EXACT, &object);
    if (verdict) fail(verdict, p);
}

void sc_span(sc_frame *f, sc_uint at, const volatile void *p, const volatile void *origin, sc_size n, const sc_uptr *words)
{
    const SC_ROM sc_d *d = sc_begin(f, at), *of_origin;
    sc_extent object;
    sc_u32 verdict;
    if (!d) {
        sc_watch(f, at, 2, words);
        return;
    }
    verdict = judge((const void *)p, (const void *)origin, n, d[1] & EXACT, &object);
    if (verdict && !n) return;
    of_origin = d + 3 + (d[2] & 0xFFu);
    if (object.at && verdict != SC_VERDICT_USE_AFTER_FREE && !sc_look(f, of_origin, sc_after(d + 2, words))) {
        if (sc_speak(f, d + 2, words, SC_CONDITION | !verdict, 0, 0)) {
            sc_address(object.at);
            sc_varint(object.size);
            sc_condition(sc.last_site << 1 | !verdict);
        }
        sc.sent = 0;
    }
    if (verdict) fail(verdict, p);
}

void sc_bounds(sc_frame *f, sc_uint at, const volatile void *p, const volatile void *origin, const sc_uptr *words)
{
    sc_span(f, at, p, origin, DESCRIPTOR(f, at)[1] & ~EXACT, words);
}

/* strlen, of nobody else's code. */
sc_size sc_length(const char *text)
{
    sc_size n = 0;
    while (text[n]) n++;
    return n;
}

void sc_string_within(sc_frame *f, sc_uint at, const char *text, sc_size n)
{
    const SC_ROM sc_d *d = sc_begin(f, at);
    if (!d) return;
    while (n--)
        if (!*text++) return;
    fail(SC_VERDICT_OUT_OF_BOUNDS, text);
}
