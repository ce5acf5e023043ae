/* Bounds: an access must stay in the object that its pointer was made from, wherever arithmetic led it.
 *
 * At the access itself it is too late to ask: `*p++` is already in the neighbour, and `end[-1]` is right where `end` is
 * one past an array. So the program says beside each access the pointer that its address was computed from (origins.py
 * of the front-end), as Jones and Kelly check arithmetic (AADEBUG 1997), but only where something is read or stored.
 * Objects that nobody listed are not checked, but counted. With a symbolic address or size, "it stays in the object" is
 * a condition whose other side is searched for. */
#include "state.h"

#ifndef SC_STRAYS /* 12 bytes of RAM each */
#define SC_STRAYS SC_BY_RAM(6u, 12u, 32u)
#endif

#define LOST 0x80u /* in their number: there was no room for one of which its value says something wrong */
#define SC_ASTRAY (~(sc_u64)0) /* in the place of an object's size, which stands behind it */
#define KNOWN (sc_strays & ~LOST)

sc_uint sc_strays SC_RUNTIME_DATA, sc_origin_varies SC_RUNTIME_DATA;

/* The value is inverted if the origin was symbolic: no object lies at both. */
typedef struct {
    const volatile void *where, *value, *origin;
} stray;

static const volatile void *inverted(const volatile void *value) { return (const volatile void *)~(sc_uptr)value; }

static stray strays[SC_STRAYS] SC_RUNTIME_DATA;

#ifdef SC_SNAPSHOTS
void sc_strays_keep(void)
{
    sc_keep(&sc_strays, sizeof sc_strays);
    sc_keep(strays, KNOWN * sizeof *strays);
}
#endif

static sc_u32 fits(sc_extent object, const void *p, sc_uptr n)
{
    return n <= object.size && (sc_uptr)p - (sc_uptr)object.at <= object.size - n;
}

/* Where it stands how many bytes of the object are its own; null if all are (sized.c). */
static const sc_uptr *limit_of(const void *at)
{
    return sc.limit_of ? sc.limit_of(at) : 0;
}

/* Where code may be large: what is asked again here is asked in that object (quiet.h). Not of a run that tells where it
 * is, since that is a probe's business. */
static void remember(sc_extent object, sc_u32 which)
{
#ifdef SC_QUIET_STATE
    sc_recent_object *known = sc_recent + which;
    if (!sc.quiet || sc.limit_of) return;
    known->at = (sc_uptr)object.at;
    known->size = object.size;
    known->deep = sc_ends_with(object.at);
    if (known->deep > sc.recent) sc.recent = known->deep;
#else
    (void)object, (void)which;
#endif
}

/* What an access is: 0 if it is right, or nobody can tell; `object`: where it is or should have been, at null: nobody
 * knows. An object that stands for one of any size has its flag in its size: to leave it is no bug, but nobody knows
 * what the program would find there, so the test ends. */
static sc_u32 judge(const void *p, const void *origin, sc_uptr n, sc_extent *object)
{
    sc_extent before, there;
    sc_u32 freed = 0, verdict;
    sc_uptr more, one_of_many = 0;
    const sc_uptr *limit;
    object->at = 0;
    object->size = 0;
    if (sc.block) *object = sc.block(origin, &freed);
    if (freed && p != origin) { /* `p += new - old`, where a block was moved */
        freed = 0;
        there = sc.block(p, &freed);
        if (there.at != object->at) {
            *object = there;
            origin = p;
        } else freed = 1;
    }
    if (freed) return SC_VERDICT_USE_AFTER_FREE;
    if (!object->at) {
        *object = sc_variable(origin, &before);
        more = object->size & SC_BEHIND_UNKNOWN ? SC_BEHIND_UNKNOWN : before.size;
        one_of_many = object->size & SC_ONE_OF_MANY;
        object->size = object->at ? SC_BYTES(object->size) : 0;
        if (!object->size) {
            sc.unchecked++;
            return 0;
        }
        remember(*object, sc.last_site % SC_RECENT);
        /* A pointer to the object's first byte may as well be one past the object before it: then both are meant,
         * wherever p is in this run. All runs of a path must agree on what it is that p must be in. (Who leads to a
         * harness's array of unknown size has it from the harness.) */
        if (one_of_many) more = 0;
        if (origin == object->at && !limit_of(object->at) && more && limit_of(before.at)) {
            /* one past an object whose size is a formula: which of the two? */
            if ((const sc_u8 *)p < (const sc_u8 *)origin) {
                object->at = 0;
                sc.unchecked++;
                return 0;
            }
        } else if (origin == object->at && !limit_of(object->at)) {
            object->at = (const sc_u8 *)object->at - more;
            object->size += more;
            if (more == SC_BEHIND_UNKNOWN && (const sc_u8 *)p < (const sc_u8 *)origin) sc.unchecked++;
        }
    }
    limit = limit_of(object->at);
    if (limit && *limit < object->size) object->size = *limit;
    verdict = fits(*object, p, n) ? 0 : one_of_many ? SC_VERDICT_ASSUMPTION : SC_VERDICT_OUT_OF_BOUNDS;
    object->size |= one_of_many;
    return verdict;
}

/* Where the object begins that a pointer to its first byte, or to another one, means; null: nobody knows. */
static const void *begin_of(const volatile void *p)
{
    sc_extent found = {0, 0}, before;
    sc_u32 freed = 0;
    if (sc.block) found = sc.block((const void *)p, &freed);
    if (found.at) return found.at;
    found = sc_variable((const void *)p, &before);
    found.size = SC_BYTES(found.size);
    if (found.at) remember(found, SC_RECENT);
    return found.at;
}

static sc_u32 find(const volatile void *where)
{
    sc_u32 i = 0;
    while (i < KNOWN && strays[i].where != where) i++;
    return i;
}

static void forget(sc_u32 i)
{
    if (i >= KNOWN) return;
    sc_strays--;
    strays[i] = strays[KNOWN];
}

/* One past an object's end, where another begins: `judge` takes such a pointer for either. */
static sc_u32 is_end(const volatile void *value, const volatile void *origin)
{
    sc_extent before;
    return sc_variable((const void *)value, &before).size && before.size && before.at == begin_of(origin);
}

static void moved(const void *to, const void *from, sc_size n);

static void keep(stray s)
{
    if (KNOWN == SC_STRAYS) {
        if (!is_end(s.value, s.origin)) sc_strays |= LOST;
        return;
    }
    strays[KNOWN] = s;
    sc_strays++;
    if (SC_IS_NUMBER(s.where)) return;
    sc.moved = moved;
    sc_any = 1; /* so that copies and what clears memory is told */
}

/* Memory was copied, or has a new value (`from` null): what lay in it is not there any more. */
static void moved(const void *to, const void *from, sc_size n)
{
    sc_u32 i = KNOWN;
    while (i--) {
        sc_uptr offset = (sc_uptr)strays[i].where - (sc_uptr)from;
        sc_u32 overwritten = (sc_uptr)strays[i].where - (sc_uptr)to < n;
        if (from && offset < n) {
            stray copy = strays[i];
            copy.where = (const sc_u8 *)to + offset;
            if (overwritten) strays[i] = copy;
            else keep(copy);
        } else if (overwritten) forget(i);
    }
}

void sc_stray(const volatile void *where, const volatile void *value, const volatile void *origin, sc_uint varies)
{
    stray s;
    if (SC_IN_INTERRUPT()) return;
    forget(find(where));
    if (value == origin) return;
    /* In an object of its own only its first byte might be taken for one past another one: that is passed on, not
     * kept. */
    if ((!SC_IS_NUMBER(where) || KNOWN == SC_STRAYS) && begin_of(value) == begin_of(origin)) return;
    s.where = where;
    s.value = value;
    s.origin = origin;
    if (varies && KNOWN < SC_STRAYS) s.value = inverted(value);
    keep(s);
}

const volatile void *sc_recall(const volatile void *where, const volatile void *value)
{
    sc_u32 i = find(where);
    if (SC_IN_INTERRUPT()) return value;
    sc_origin_varies = 0;
    if (i == KNOWN) return sc_strays & LOST ? 0 : value;
    sc_origin_varies = strays[i].value == inverted(value);
    if (sc_origin_varies || strays[i].value == value) value = strays[i].origin;
    if (SC_IS_NUMBER(where)) forget(i); /* asked for once */
    return value;
}

/* The first input that was declared in an object: where it is in the test's input, and 1 more; 0: there is none, or
 * this is a small board. Where a harness made the object, its size may be the harness's guess. */
static sc_i32 input_in(sc_u32 verdict, sc_extent object, const void *origin)
{
#if SC_INPUTS_KNOWN
    sc_u32 i, found = SC_INPUTS_KNOWN;
    sc_uptr size = object.size & ~(sc_uptr)SC_ONE_OF_MANY;
    if (!size) size = 1; /* an array without elements has its input all the same */
    for (i = 0; verdict != SC_VERDICT_USE_AFTER_FREE && i < sc.declared; i++) {
        if ((sc_uptr)sc_inputs[i].at - (sc_uptr)object.at >= size) continue;
        if (found == SC_INPUTS_KNOWN) found = i;
        if ((sc_uptr)sc_inputs[i].at >= (sc_uptr)origin) return (sc_i32)sc_inputs[i].offset + 1;
    }
    if (found != SC_INPUTS_KNOWN) return (sc_i32)sc_inputs[found].offset + 1;
#else
    (void)verdict;
    (void)object;
    (void)origin;
#endif
    return 0;
}

static void __attribute__((noreturn)) fail(sc_u32 verdict, const volatile void *p, sc_i32 input)
{
    sc.address = (sc_uptr)p;
    sc_mix(&sc.path, sc.last_site << 1); /* where the test ends is part of its path */
    sc_end(verdict, input);
}

/* The test ends here for the object that a symbolic pointer led to in this run. A passed check of such an access says
 * nothing (what is read or stored there does), so the host alone has this for a condition: it is not counted. */
static void say_astray(sc_frame *f, const SC_ROM sc_d *leaves, const sc_uptr *words, sc_extent object, sc_u32 verdict)
{
    const SC_ROM sc_d *of_origin = leaves + 1 + (leaves[0] & 0xFFu);
    const sc_uptr *behind = sc_after(leaves, words);
    sc_u64 varies = sc_look(f, of_origin, behind);
    if (!varies || !sc_speak(f, leaves, words, 0, 0, 0)) return;
    sc_address(object.at);
    sc_varint(SC_ASTRAY);
    sc_varint(object.size & ~(sc_uptr)SC_ONE_OF_MANY);
    sc_byte(verdict == SC_VERDICT_USE_AFTER_FREE);
    sc_say_leaves(f, of_origin, behind, varies, 0);
    sc.sent = 0;
}

/* `words`: where the origin may be symbolic, its leaves and the address's; else null. */
static void within(sc_frame *f, sc_uint at, const volatile void *p, const volatile void *origin, sc_size n,
                   const sc_uptr *words)
{
    const SC_ROM sc_d *d = sc_begin(f, at);
    sc_extent object;
    sc_u32 verdict;
    if (!d || !n) return;
    verdict = judge((const void *)p, (const void *)origin, n, &object);
    if (sc.measure) sc.measure(object.at, (const void *)p, n, !verdict);
    if (!verdict) return;
    if (words) say_astray(f, d + 2, words, object, verdict);
    fail(verdict, p, input_in(verdict, object, (const void *)origin));
}

void sc_within(sc_frame *f, sc_uint at, const volatile void *p, const volatile void *origin, sc_size n)
{
    within(f, at, p, origin, n, 0);
}

void sc_from(sc_frame *f, sc_uint at, const volatile void *p, const volatile void *origin, sc_size n,
             const sc_uptr *words)
{
    within(f, at, p, origin, n, words);
}

void sc_span(sc_frame *f, sc_uint at, const volatile void *p, const volatile void *origin, sc_size n,
             const sc_uptr *words)
{
    const SC_ROM sc_d *d = sc_begin(f, at), *of_origin;
    sc_extent object;
    sc_u32 verdict, varies;
    if (!d) {
        sc_watch(f, at, 2, words);
        return;
    }
    if (!n) return; /* nothing is touched, wherever the pointer leads */
    verdict = judge((const void *)p, (const void *)origin, n, &object);
    of_origin = d + 3 + (d[2] & 0xFFu);
    varies = sc_look(f, of_origin, sc_after(d + 2, words)) != 0;
    if (varies && (verdict == SC_VERDICT_USE_AFTER_FREE || !limit_of(object.at))) {
        if (verdict) say_astray(f, d + 2, words, object, verdict);
    } else if (object.at && verdict != SC_VERDICT_USE_AFTER_FREE) {
        if (sc_speak(f, d + 2, words, SC_CONDITION | !verdict, 0, 0)) {
            sc_address(object.at);
            sc_varint(object.size);
            sc_condition(sc.last_site << 1 | !verdict);
        } else if (sc.measure) sc.measure(object.at, (const void *)p, n, !verdict);
        sc.sent = 0;
    }
    if (verdict) fail(verdict, p, input_in(verdict, object, (const void *)origin));
}

void sc_bounds(sc_frame *f, sc_uint at, const volatile void *p, const volatile void *origin, const sc_uptr *words)
{
    sc_span(f, at, p, origin, DESCRIPTOR(f, at)[1], words);
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
    if (!d || !n) return;
    while (n--)
        if (!*text++) return;
    fail(SC_VERDICT_OUT_OF_BOUNDS, text, 0);
}
