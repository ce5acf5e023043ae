/* Objects of a harness that end where a number says, which may be symbolic: then each access behind the furthest so far
 * is a condition on that number. A program that has none does not have this file (bounds.c asks by pointers). */
#include "state.h"

#ifndef SC_SIZED /* 5 words of RAM each */
#define SC_SIZED SC_BY_RAM(2u, 6u, 24u)
#endif

/* `reached`: so many bytes are known to be in it. */
typedef struct {
    const void *at;
    const sc_uptr *limit;
    const sc_frame *f;
    sc_uint site;
    sc_uptr reached;
} sized_object;

static sized_object sized[SC_SIZED] SC_RUNTIME_DATA;

static sized_object *sized_at(const void *at)
{
    sc_u32 i;
    for (i = 0; i < sc.sized; i++)
        if (sized[i].at == at) return sized + i;
    return 0;
}

/* An event of the object's site says what its size is made of. Behind it: 0 and the object, or how many bytes it must
 * have. */
static sc_u32 say_size(const sized_object *s, sc_u32 how)
{
    sc_uptr word = (sc_uptr)s->limit;
    return sc_speak(s->f, DESCRIPTOR(s->f, s->site) + 1, &word, how, 0, 0);
}

/* The access ends `need` bytes behind the object's begin: a condition if the size is symbolic. */
static void reach(sized_object *s, sc_uptr need, sc_u32 holds)
{
    sc_u32 site = sc.last_site;
    if (holds && need <= s->reached) return;
    sc.last_site = SITE(s->f, DESCRIPTOR(s->f, s->site));
    if (say_size(s, SC_CONDITION | holds)) {
        sc_varint(need);
        sc_condition(sc.last_site << 1 | holds);
    }
    sc.last_site = site;
    sc.sent = 0;
    s->reached = need;
}

/* An access at an address that is not symbolic, to an object whose size may be. */
static void measure(const void *object, const void *p, sc_uptr n, sc_u32 holds)
{
    sized_object *s = object ? sized_at(object) : 0;
    if (s && (const sc_u8 *)p >= (const sc_u8 *)s->at) reach(s, (sc_uptr)p - (sc_uptr)s->at + n, holds);
}

static const sc_uptr *limit_of(const void *at)
{
    const sized_object *s = sized_at(at);
    return s ? s->limit : 0;
}

void sc_sized(sc_frame *f, sc_uint at, const volatile void *object, const sc_uptr *limit)
{
    sized_object *s = sized_at((const void *)object);
    if (!sc_begin(f, at)) return;
    if (!s && sc.sized == SC_SIZED) return;
    if (!s) s = sized + sc.sized++;
    s->at = (const void *)object;
    s->limit = limit;
    s->f = f;
    s->site = at;
    s->reached = 0;
    sc_forget_recent();
    sc.limit_of = limit_of;
    sc.measure = measure;
    if (say_size(s, 0)) {
        sc_varint(0);
        sc_address(s->at);
    }
    sc.sent = 0;
}
