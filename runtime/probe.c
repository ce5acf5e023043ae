/* The probes: each keeps the hashes, coverage and taint, and sends an event if something in it is tainted.
 *
 * No probe allocates, recurses or calls libc; scratch space is static because the program's stack may be small.
 * A probe that finds itself in an interrupt stays silent: interrupts are no part of a path. What it must not miss is that
 * symbolic data is read there: what comes of that has no formula. */
#include "state.h"

sc_state sc SC_RUNTIME_DATA;

#ifdef SC_QUIET_STATE
#define SAME_PLACE(ours, theirs) \
    typedef char ours##_is_where_quiet_code_has_it[__builtin_offsetof(sc_state, ours) == __builtin_offsetof(sc_quiet_state, theirs) ? 1 : -1]
SAME_PLACE(quiet, quiet);
SAME_PLACE(path, a);
SAME_PLACE(last_site, last_site);
SAME_PLACE(depth, depth);
SAME_PLACE(branches, branches);
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

/* A number of that many bytes, at any address. */
static sc_u64 load(const void *p, sc_u32 bytes)
{
    const struct { sc_u32 low, high; } __attribute__((packed)) *wide = p;
    const struct { sc_d value; } __attribute__((packed)) *half = p;
    if (bytes == 1) return *(const sc_u8 *)p;
    if (bytes == 2) return half->value;
    return bytes == 4 ? wide->low : wide->low | (sc_u64)wide->high << 32;
}

void sc_send_value(const void *p, sc_u32 bytes)
{
    sc_u64 v = load(p, bytes);
    sc_u32 shift = 32u - 8u * bytes;
    sc_signed(bytes == 8 ? (sc_i64)v : (sc_i32)((sc_u32)v << shift) >> shift);
}

/* The check over what conditions compared. Machines differ in the pattern of what is no number: where the leaf may be a
 * floating-point number, all patterns that could be one, by 8 bits of an exponent, are as zero. */
static void hash_operand(const void *p, sc_u32 bytes, sc_u32 how)
{
    sc_u64 v = load(p, bytes);
    sc_u32 low = (sc_u32)v, high = (sc_u32)(v >> 32), top = high | low;
    if (how & SC_FLOATS && !(~top << 1 >> 24)) low = high = 0;
    sc_mix(&sc.operand, low);
    if (bytes == 8) sc_mix(&sc.operand, high);
}

/* A leaf in memory has no slot: in its place stands whether the object may change while the program only looks at it. */
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

/* If a leaf is tainted, the head of an event and what it says of its leaves; returns if there is an event. Without
 * leaves it is a note, always sent. `to`: where the value goes in memory. */
sc_u32 sc_speak(const sc_frame *f, const SC_ROM sc_d *w, const sc_uptr *words, sc_u32 how, const void *to, sc_u32 size)
{
    const sc_u32 *m = MASKS(f);
    sc_u64 mask = sc_look(f, w, words);
    sc_u32 n = *w++;
    how |= n & SC_FLOATS;
    n &= 0xFFu;
    if (!mask && n) return 0;
    if (to) sc_taint_lost(to, size); /* first: what it reports must not part event and value */
    sc_event(how & 1u);
    if (n >= 2 || (n == 1 && KIND(*w) != SLOT && BYTES(*w) > 1)) sc_varint(mask);
    for (; n; n--, mask >>= 2) {
        sc_u32 word = *w++, bytes = BYTES(word), state = (sc_u32)mask & 3u;
        const void *p = place(word, &words);
        if (state && KIND(word) == MEMORY) sc_address(p);
        if (state == 2) sc_varint(taint_of(m, word, p));
        if (state != 1) sc_send_value(p, bytes);
        if (how & SC_CONDITION) hash_operand(p, bytes, how);
    }
    return 1;
}

void sc_step(void)
{
    if (++sc.branches > sc.max_branches && !SC_EARLY()) sc_end(SC_VERDICT_HANG, 0);
    SC_FEED_AT(sc.branches);
}

void sc_tick(void)
{
    if (!SC_IN_INTERRUPT()) sc_step();
}

/* A branch, or the arm of a switch: x names the direction in the path. */
static void take_branch(const SC_ROM sc_d *d, sc_u32 x, sc_u32 arm)
{
    sc_u32 index = (d[1] | (sc_u32)d[2] << 16) + arm;
    sc_u8 mask = (sc_u8)(1u << (index & 7u)), *seen = &sc_coverage_run[index >> 3];
    sc_mix(&sc.path, x);
    if (sc.flags & SC_RUN_VECTORS) { /* how it came out, whatever it depends on */
        sc.flags ^= SC_RUN_VECTORS; /* of the bytes that are made none is wanted but these */
        sc_event(0);
        sc_varint(arm);
        sc.flags ^= SC_RUN_VECTORS;
    }
    if (!(*seen & mask)) {
        *seen |= mask;
        sc.coverage_new = 1;
        if (sc.flags & SC_RUN_EAGER) sc_pass(index << 1);
    }
    sc_step();
}

sc_uint sc_branch(sc_frame *f, sc_uint at, sc_uint dir)
{
    const SC_ROM sc_d *d = sc_begin(f, at);
    if (d) take_branch(d, sc.last_site << 1 | dir, dir);
    return dir;
}

sc_uint sc_cond(sc_frame *f, sc_uint at, sc_uint dir, const sc_uptr *words)
{
    const SC_ROM sc_d *d = sc_begin(f, at);
    sc_u32 x = sc.last_site << 1 | dir;
    if (!d) {
        sc_watch(f, at, 3, words);
        return dir;
    }
    take_branch(d, x, dir);
    if (sc_speak(f, d + 3, words, SC_CONDITION | dir, 0, 0)) {
#ifdef SC_VERIFY
        sc_signed((sc_i64)dir);
#endif
        sc_condition(x);
    }
    return dir;
}

/* What nearly all conditions of a path are, in one piece where code may be large: of one leaf, whose bytes lie at p and are
 * symbolic, all of them. Returns 0 if it is another one, or the run is a special one. */
static sc_u32 straight(const sc_frame *f, const SC_ROM sc_d *d, sc_u32 dir, const void *p)
{
#if defined SC_QUIET_STATE && !defined SC_VERIFY
    sc_u32 word = d[4], bytes = BYTES(word), in_slot = KIND(word) == SLOT, x;
    if (sc.flags & SC_RUN_EAGER || d[3] & SC_FLOATS || SC_IN_INTERRUPT()) return 0;
    if (in_slot && !sc_slot_taint(MASKS(f), INDEX(word))) return 0;
    if (!in_slot && (INDEX(word) || !SC_IS_MEMORY(p) || sc_taint_get(p, bytes) != (1u << bytes) - 1u)) return 0;
    sc.last_site = SITE(f, d);
    sc.depth = sc_depth(f);
    x = sc.last_site << 1 | dir;
    take_branch(d, x, dir);
    sc_short_event(x, !in_slot && bytes > 1u, KIND(word) == MEMORY ? p : 0);
    hash_operand(p, bytes, 0);
    sc_condition(x);
    return 1;
#else
    (void)f, (void)d, (void)dir, (void)p;
    return 0;
#endif
}

sc_uint sc_cond1(sc_frame *f, sc_uint at, sc_uint dir, sc_uptr a)
{
    const SC_ROM sc_d *d = DESCRIPTOR(f, at);
    if (KIND(d[4]) == SLOT && !sc_slot_taint(MASKS(f), INDEX(d[4]))) return sc_branch(f, at, dir);
    if (straight(f, d, dir, KIND(d[4]) == SLOT ? (const void *)&a : (const void *)a)) return dir;
    return sc_cond(f, at, dir, &a);
}

/* Whether a and b stand in the relation. */
static sc_u32 compare(sc_u32 relation, sc_uptr a, sc_uptr b)
{
    const sc_uptr sign = (sc_uptr)1 << (8u * sizeof sign - 1u);
    sc_uptr left = relation & SC_RELATION_CONSTANT_LEFT ? b : a, right = relation & SC_RELATION_CONSTANT_LEFT ? a : b;
    if (relation & SC_RELATION_SIGNED) {
        left ^= sign;
        right ^= sign;
    }
    switch (relation & 3u) {
    case SC_RELATION_EQ: return a == b;
    case SC_RELATION_NE: return a != b;
    case SC_RELATION_LT: return left < right;
    default: return left <= right;
    }
}

sc_uint sc_test_at(sc_frame *f, sc_uint at, sc_uptr v, const volatile void *p)
{
    const SC_ROM sc_d *d = DESCRIPTOR(f, at); /* with the constant after the leaf word */
    sc_u32 relation = d[3] >> 8;
    return sc_cond1(f, at, compare(relation, v, relation & SC_RELATION_SIGNED ? (sc_uptr)(sc_iptr)(signed short)d[5] : d[5]), (sc_uptr)p);
}

sc_uint sc_test(sc_frame *f, sc_uint at, sc_uptr v)
{
    return sc_test_at(f, at, v, (const void *)v);
}

sc_uint sc_cond2(sc_frame *f, sc_uint at, sc_uint dir, sc_uptr a, sc_uptr b)
{
    sc_uptr words[2];
    words[0] = a;
    words[1] = b;
    return sc_cond(f, at, dir, words);
}

sc_uint sc_test2(sc_frame *f, sc_uint at, sc_uptr a, sc_uptr b)
{
    return sc_cond2(f, at, compare(DESCRIPTOR(f, at)[3] >> 8, a, b), a, b);
}

sc_uint sc_switch(sc_frame *f, sc_uint at, sc_uint arm, sc_u64 v)
{
    const SC_ROM sc_d *d = sc_begin(f, at);
    sc_u32 i, site = sc.last_site << 1;
    if (!d) return arm;
    sc_mix(&sc.path, site);
    take_branch(d, arm, arm);
    if (KIND(d[3]) == SLOT && sc_slot_taint(MASKS(f), INDEX(d[3]))) {
        sc_event(0);
        sc_varint(arm);
#ifdef SC_VERIFY
        sc_send_value(&v, BYTES(d[3]));
#endif
        hash_operand(&v, BYTES(d[3]), 0);
        for (i = 0; i < d[4] && i <= arm; i++) {
            sc_mix(&sc.condition, site | (i == arm));
            sc_condition(i);
        }
    }
    return arm;
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

/* The program asks for n bytes of input. What it does without them nobody wants to know: it will run again with them. */
static void ask(sc_size n)
{
    if (sc.input_used <= sc.input_size && n <= sc.input_size - sc.input_used) return;
    if (sc.flags & SC_RUN_BOUNDED) {
        sc.input_used += (sc_u32)n;
        sc_end(SC_VERDICT_HANG, 0);
    }
    if (sc.flags & SC_RUN_EAGER) return; /* perhaps it ends before it can say how many bytes it asked for */
    sc.matched = 0;
    sc.mispredicted = 1;
    sc.predicted = 0xFFFFFFFFu;
}

static void take_input(sc_u8 *to, sc_size n)
{
    while (n--) {
        *to++ = sc.input_used < sc.input_size ? sc_input[sc.input_used] : 0;
        sc.input_used++;
    }
}

sc_u64 sc_sym_slot(sc_frame *f, sc_uint at)
{
    const SC_ROM sc_d *d = sc_begin(f, at);
    sc_u64 v = 0;
    if (!d) { /* the input is not declared: the handler goes on with another value than a path's */
        sc.seen = SITE(f, DESCRIPTOR(f, at));
        return 0;
    }
    ask(BYTES(d[1]));
    sc_event(0);
    take_input((sc_u8 *)&v, BYTES(d[1]));
    sc_set_slot(MASKS(f), INDEX(d[1]), 1);
    sc.sent = 0;
    return v;
}

#if SC_INPUTS_KNOWN
sc_input_at sc_inputs[SC_INPUTS_KNOWN] SC_RUNTIME_DATA;

static void declare_at(const void *p)
{
    if (sc.declared == SC_INPUTS_KNOWN) return;
    sc_inputs[sc.declared].at = p;
    sc_inputs[sc.declared++].offset = sc.input_used;
}
#endif

void sc_sym_mem(sc_frame *f, sc_uint at, void *p, sc_size n)
{
    const SC_ROM sc_d *d = sc_begin(f, at);
    if (!d) sc.seen = SITE(f, DESCRIPTOR(f, at));
    if (!d || !n) return;
    ask(n);
#if SC_INPUTS_KNOWN
    declare_at(p);
#endif
    take_input((sc_u8 *)p, n);
    sc_event(0);
    if (KIND(d[1]) == MEMORY) sc_address(p);
    if (d[2]) sc_varint(n);
    sc.sent = 0;
    sc_taint_lost(p, n);
    sc_taint_set(p, n);
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
    sc.last_site = SITE(f, DESCRIPTOR(f, at)); /* the place: a compiler may merge the calls of several assertions into one */
    sc_end(SC_VERDICT_ASSERTION, 0);
}

void sc_assume_fail(void)
{
    sc_end(SC_VERDICT_ASSUMPTION, 0);
}
