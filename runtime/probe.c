/* The probes: each keeps hashes and taint, and sends an event if something in it is tainted. Here is what probes have
 * in common, and those of values. Branches are in branch.c, inputs in input.c; ARCHITECTURE.md has a table of the rest.
 *
 * No probe allocates, recurses or calls libc; scratch space is static because the program's stack may be small. A probe
 * that finds itself in an interrupt stays silent: interrupts are no part of a path. What it must not miss is that
 * symbolic data is read there: what comes of that has no formula. */
#include "straight.h"

sc_state sc SC_RUNTIME_DATA;

#ifdef SC_QUIET_STATE
#define SAME_PLACE(ours, theirs) \
    typedef char ours##_is_where_quiet_code_has_it \
        [__builtin_offsetof(sc_state, ours) == __builtin_offsetof(sc_quiet_state, theirs) ? 1 : -1]
SAME_PLACE(quiet, quiet);
SAME_PLACE(path, a);
SAME_PLACE(last_site, last_site);
SAME_PLACE(depth, depth);
SAME_PLACE(branches, branches);
#endif

#ifdef SC_QUIET_STATE
sc_recent_object sc_recent[SC_RECENT + 1u] SC_RUNTIME_DATA;

void sc_forget_recent(void)
{
    sc_u32 i;
    if (!sc.recent) return;
    for (i = 0; i <= SC_RECENT; i++) sc_recent[i].size = 0;
    sc.recent = 0;
}
#endif

#ifdef SC_COUNT_HANDLERS
volatile sc_u8 sc_handlers SC_RUNTIME_DATA;
#endif

const SC_ROM sc_d *sc_begin(const sc_frame *f, sc_uint at)
{
    const SC_ROM sc_d *d = DESCRIPTOR(f, at);
    if (SC_IN_INTERRUPT()) return 0;
    sc.sent = 0;
    sc.last_site = SITE(f, d);
    sc.depth = sc_depth(f);
    sc_tell();
    return d;
}

/* Not said at once: the probe that was interrupted may be in the midst of an event. */
void sc_watch(const sc_frame *f, sc_uint at, sc_uint w, const sc_uptr *words)
{
    const SC_ROM sc_d *d = DESCRIPTOR(f, at);
    if (sc_look(f, d + w, words)) sc.seen = SITE(f, d);
}

void sc_watch_memory(const sc_frame *f, sc_uint at, const void *p, sc_size n)
{
    if (sc_taint_get(p, n)) sc.seen = SITE(f, DESCRIPTOR(f, at));
}

/* Where leaf `word` has its bytes: a slot's value lies in the words themselves, the low one first. Moves on. */
static const void *place(sc_u32 word, const sc_uptr **words)
{
    const sc_uptr *own = (*words)++;
    if (KIND(word) != SLOT) return (const void *)*own;
    if (BYTES(word) > sizeof *own) *words = own + BYTES(word) / sizeof *own;
    return own;
}

void sc_send_value(const void *p, sc_u32 bytes)
{
    sc_u64 v = sc_load(p, bytes);
    sc_u32 shift = 32u - 8u * bytes;
    sc_signed(bytes == 8 ? (sc_i64)v : (sc_i32)((sc_u32)v << shift) >> shift);
}

/* The check over what conditions compared. Machines differ in the pattern of what is no number: where the leaf may be a
 * floating-point number, all patterns that could be one, by 8 bits of an exponent, are as zero. */
void sc_hash_operand(const void *p, sc_u32 bytes, sc_u32 how)
{
    sc_u64 v = sc_load(p, bytes);
    sc_u32 top = (sc_u32)(v >> 32) | (sc_u32)v;
    if (how & SC_FLOATS && !(~top << 1 >> 24)) v = 0;
    sc_hash_number(v, bytes);
}

/* A leaf in memory has no slot: in its place stands whether the object may change while the program only looks at
 * it. */
#define WAITED 1u

/* Which bytes of a leaf at p are tainted: all of them or none if it is a slot. */
static sc_u32 taint_of(const sc_u32 *m, sc_u32 word, const void *p)
{
    if (KIND(word) != SLOT) {
        if ((INDEX(word) || !SC_IS_MEMORY(p)) && !SC_IN_INTERRUPT()) { /* a handler does not wait */
            sc.device = (sc_uptr)p;
            sc.waited = INDEX(word);
            sc.device_at = sc.branches;
        }
        return sc_taint_get(p, BYTES(word));
    }
    return sc_slot_taint(m, INDEX(word)) ? (1u << BYTES(word)) - 1u : 0;
}

/* The taint of the leaves that the descriptor counts and names from w on, two bits each. */
sc_u64 sc_look(const sc_frame *f, const SC_ROM sc_d *w, const sc_uptr *words)
{
    const sc_u32 *m = MASKS(f);
    sc_u64 mask = 0;
    sc_u32 i, n = *w++ & 0xFFu;
    for (i = 0; i < n; i++) {
        sc_u32 word = w[i], taint = taint_of(m, word, place(word, &words));
        if (taint) mask |= (sc_u64)(taint == (1u << BYTES(word)) - 1u ? 1u : 2u) << 2u * i;
    }
    return mask;
}

const sc_uptr *sc_after(const SC_ROM sc_d *w, const sc_uptr *words)
{
    sc_u32 n = *w++ & 0xFFu;
    for (; n; n--) place(*w++, &words);
    return words;
}

/* What an event says of its leaves; `mask`: their taint. */
void sc_say_leaves(const sc_frame *f, const SC_ROM sc_d *w, const sc_uptr *words, sc_u64 mask, sc_u32 how)
{
    const sc_u32 *m = MASKS(f);
    sc_u32 n = *w++ & 0xFFu;
    if (n >= 2 || (n == 1 && KIND(*w) != SLOT && BYTES(*w) > 1)) sc_varint(mask);
    for (; n; n--, mask >>= 2) {
        sc_u32 word = *w++, bytes = BYTES(word), state = (sc_u32)mask & 3u;
        const void *p = place(word, &words);
        if (state && KIND(word) == MEMORY) sc_address(p);
        if (state == 2) sc_varint(taint_of(m, word, p));
        if (state != 1) sc_send_value(p, bytes);
        if (how & SC_CONDITION) sc_hash_operand(p, bytes, how);
    }
}

/* If a leaf is tainted, the head of an event and what it says of its leaves; returns if there is an event. Without
 * leaves it is a note, always sent. `to`: where the value goes in memory. */
sc_u32 sc_speak(const sc_frame *f, const SC_ROM sc_d *w, const sc_uptr *words, sc_u32 how, const void *to, sc_u32 size)
{
    sc_u64 mask = sc_look(f, w, words);
    if (!mask && *w & 0xFFu) return 0;
    if (to) sc_taint_lost(to, size); /* first: what it reports must not part event and value */
    sc_event(how & 1u);
    sc_say_leaves(f, w, words, mask, how | (*w & SC_FLOATS));
    return 1;
}

void sc_assign(sc_frame *f, sc_uint at, const sc_uptr *words)
{
    const SC_ROM sc_d *d = sc_begin(f, at);
    void *to = 0;
    sc_u32 dest, tainted;
    if (!d) {
        dest = DESCRIPTOR(f, at)[1];
        if (KIND(dest) == MEMORY || KIND(dest) == GLOBAL) to = (void *)*words++;
        sc_watch(f, at, 2, words);
        if (to) sc_clear(to, BYTES(dest));
        return;
    }
    dest = d[1];
    if (KIND(dest) == MEMORY || KIND(dest) == GLOBAL) to = (void *)*words++;
    tainted = sc_speak(f, d + 2, words, 0, to, BYTES(dest));
    if (tainted) {
        if (KIND(dest) == MEMORY) sc_address(to);
        VALUE_BYTES(dest);
    }
    if (to) sc_taint(to, BYTES(dest), 1, 0u - tainted);
    else if (KIND(dest) == SLOT) sc_set_slot(MASKS(f), INDEX(dest), tainted);
}

void sc_assign1(sc_frame *f, sc_uint at, sc_uptr a)
{
    sc_assign(f, at, &a);
}

void sc_assign2(sc_frame *f, sc_uint at, sc_uptr a, sc_uptr b)
{
    sc_uptr words[2];
    words[0] = a;
    words[1] = b;
    sc_assign(f, at, words);
}

void sc_pin(sc_frame *f, sc_uint at, const sc_uptr *words)
{
    const SC_ROM sc_d *d = sc_begin(f, at);
    if (!d) {
        sc_watch(f, at, 1, words);
        return;
    }
    sc_speak(f, d + 1, words, 0, 0, 0);
    sc.sent = 0;
}

void sc_pin1(sc_frame *f, sc_uint at, sc_uptr a)
{
    sc_pin(f, at, &a);
}

void sc_copy(sc_frame *f, sc_uint at, void *dst, const void *src, sc_size n)
{
    const SC_ROM sc_d *d = sc_begin(f, at);
    if (dst == src) return;
    if (!d) {
        sc_watch_memory(f, at, src, n);
        sc_clear(dst, n);
        return;
    }
    if (sc.moved) sc.moved(dst, src, n);
    if (!sc_taint_get(src, n)) {
        sc_taint_clear(dst, n);
        return;
    }
    sc_event(0);
    sc_address(dst);
    sc_address(src);
    sc_varint(n);
    sc.sent = 0;
    sc_taint_lost(dst, n);
    sc_taint_copy(dst, src, n);
}

/* What a handler stores is concrete, too; what it changes while opaque code runs is found out after that. */
void sc_clear(const void *p, sc_size n)
{
    if (sc.moved && !SC_IN_INTERRUPT()) sc.moved(p, 0, n);
    if (!(SC_IN_INTERRUPT() && sc.opaque)) sc_taint_clear(p, n);
}

sc_uint sc_tainted(const void *p, sc_size n)
{
    return !SC_IN_INTERRUPT() && sc_taint_get(p, n);
}

void sc_value(sc_u64 v)
{
#ifdef SC_VERIFY
    if (sc.sent && !SC_IN_INTERRUPT()) sc_send_value(&v, sc.value_bytes);
    sc.sent = 0;
#else
    (void)v;
#endif
}

void sc_assert_fail(sc_frame *f, sc_uint at)
{
    /* the place: a compiler may merge the calls of several assertions into one */
    sc.last_site = SITE(f, DESCRIPTOR(f, at));
    sc_end(SC_VERDICT_ASSERTION, 0);
}

void sc_assume_fail(void)
{
    sc_end(SC_VERDICT_ASSUMPTION, 0);
}
