/* Probes where nothing is symbolic, inline: what a probe would do then is a few instructions, while its call and its
 * look at the descriptor are some fifty. So this is for targets where code may be large: processes and emulators.
 * Elsewhere, and where a guard here does not know, the probe itself is called, which looks again.
 *
 * Descriptors are constant tables: with the index of one, a compiler computes all that is made of it here. Guards look
 * at a few more bits of taint than those of the bytes in question: 8 or 16 bytes. Branches keep hash, count and place
 * up to date. In interrupts probes are silent; a test that tells where it is, or of all its branches, has no quiet
 * ones. */
#ifndef SC_QUIET_H
#define SC_QUIET_H

/* What the taint map covers: the same as in taint.c, which makes sure. */
#ifdef __linux__
#define SC_QUIET_BASE 0u
#if __SIZEOF_POINTER__ == 8
#define SC_QUIET_SIZE 0x68000000u
#else
#define SC_QUIET_SIZE 0x18000000u
#endif
#else
#ifdef SC_MAP_SIZE
#define SC_QUIET_BASE SC_MAP_BASE
#define SC_QUIET_SIZE SC_MAP_SIZE
#else
#define SC_QUIET_BASE SC_RAM_BASE
#define SC_QUIET_SIZE SC_RAM_SIZE
#endif
#endif

/* The objects that bounds were asked of last, by some bits of the site: what stays in one is right, as long as it lives
 * (bounds.c). One more is what the last pointer led to that was put somewhere. `deep`: the depth of the activation that
 * an object ends with; 1 if it never does. Without any, size is 0. */
#define SC_RECENT 16u
typedef struct {
    sc_uptr at, size; /* bytes */
    sc_u32 deep;
} sc_recent_object;

/* The beginning of the runtime's state (sc_state). */
typedef struct {
    sc_u32 quiet;                  /* branches up to this one may be quiet */
    sc_u32 run[12];
    sc_u32 a, b, hashes[4];        /* the path hash */
    sc_u32 last_depth, last_site, depth, branches;
} sc_quiet_state;

extern sc_u32 sc_taint_bits[];

#ifdef SC_QUIET
#define SC_QUICK static inline __attribute__((always_inline, unused))
#define SC_QUICK_WORDS _Pragma("GCC unroll 16")

extern sc_quiet_state sc_quiet __asm__("sc_now");
extern sc_recent_object sc_recent[SC_RECENT + 1u];

/* Whether one of n bytes at p may be symbolic; 8 at most. */
SC_QUICK sc_uint sc_quick_memory(const volatile void *p, sc_uint n)
{
    const struct { sc_d bits; } __attribute__((packed)) *both;
    sc_uptr at = (sc_uptr)p - SC_QUIET_BASE;
    if (__builtin_expect(at >= SC_QUIET_SIZE, 0)) {
#ifdef __linux__
        return 0;
#elif defined SC_FLASH_BASE
        return (sc_uptr)p - SC_FLASH_BASE >= SC_FLASH_SIZE;
#else
        return 1; /* perhaps it is a device */
#endif
    }
    if (n == 1u) return ((const sc_u8 *)sc_taint_bits)[at >> 3];
    both = (const void *)((const sc_u8 *)sc_taint_bits + (at >> 3));
    return both->bits;
}

SC_QUICK sc_uint sc_quick_slot(const sc_frame *f, sc_uint slot)
{
    return (((const sc_u32 *)(f + 1))[1u + (slot >> 5)] >> (slot & 31u)) & 1u;
}

/* Of a destination: a slot, or memory at p. */
SC_QUICK sc_uint sc_quick_dest(const sc_frame *f, sc_d word, sc_uptr p)
{
    sc_uint kind = word >> 14;
    if (kind == SC_LEAF_SLOT) return sc_quick_slot(f, word & 0xFFFu);
    return kind == SC_LEAF_NONE ? 0 : sc_quick_memory((const void *)p, 1u << (word >> 12 & 3u));
}

/* Of the leaf that this word says, whose word of data is the k-th. An object that may change by itself is looked at by
 * the probe. */
SC_QUICK sc_uint sc_quick_leaf(const sc_frame *f, sc_d word, const sc_uptr *words, sc_uint k)
{
    sc_uint kind = word >> 14;
    if (kind == SC_LEAF_SLOT) return sc_quick_slot(f, word & 0xFFFu);
    if (kind == SC_LEAF_NONE) return 0;
    return word & 0xFFFu ? 1u : sc_quick_memory((const void *)words[k], 1u << (word >> 12 & 3u));
}

/* How many words of data a leaf has. */
SC_QUICK sc_uint sc_quick_size(sc_d word)
{
    sc_uint bytes = 1u << (word >> 12 & 3u);
    return word >> 14 == SC_LEAF_SLOT && bytes > sizeof(sc_uptr) ? (sc_uint)(bytes / sizeof(sc_uptr)) : 1u;
}

/* How many words all leaves have that are counted and named from w on. */
SC_QUICK sc_uint sc_quick_sizes(const SC_ROM sc_d *w)
{
    sc_uint i, k = 0, n = w[0] & 0xFFu;
    SC_QUICK_WORDS
    for (i = 0; i < n; i++) k += sc_quick_size(w[1u + i]);
    return k;
}

/* Of the leaves that are counted and named from w on. Most are one or two, and a compiler is done with these soon: a
 * loop it would carry through half of its passes. */
SC_QUICK sc_uint sc_quick_leaves(const sc_frame *f, const SC_ROM sc_d *w, const sc_uptr *words)
{
    sc_uint i, k = 0, n = w[0] & 0xFFu, found = 0;
    if (n > 0) found = sc_quick_leaf(f, w[1], words, 0), k = sc_quick_size(w[1]);
    if (n > 1) found |= sc_quick_leaf(f, w[2], words, k), k += sc_quick_size(w[2]);
    if (n > 2) {
        SC_QUICK_WORDS
        for (i = 2; i < n; i++) {
            found |= sc_quick_leaf(f, w[1u + i], words, k);
            k += sc_quick_size(w[1u + i]);
        }
    }
    return found;
}

SC_QUICK void sc_quick_mix(sc_u32 x)
{
    sc_u32 a = (sc_quiet.a ^ x) * SC_HASH_FACTOR_A, b = ((sc_quiet.b << 5 | sc_quiet.b >> 27) + x) * SC_HASH_FACTOR_B;
    sc_quiet.a = a ^ a >> 13;
    sc_quiet.b = b ^ b >> 16;
}

#ifdef __linux__
#define SC_QUICK_IN_INTERRUPT(f) ((void)(f), 0)
#else
#define SC_QUICK_IN_INTERRUPT(f) (!*(const sc_u32 *)((f) + 1)) /* activations there have no depth */
#endif

/* Whether this branch can be quiet: it is nothing new, and not the last one. */
SC_QUICK sc_uint sc_quick_may(const sc_frame *f, const SC_ROM sc_d *d, sc_uint arm)
{
    sc_u32 index = d[1] | (sc_u32)d[2] << 16;
    sc_uint seen = (index & 7u) < 7u && arm < 2u ? sc_coverage_run[index >> 3] & ((1u << (index & 7u)) << arm)
                                                : sc_coverage_run[(index + arm) >> 3] & (1u << ((index + arm) & 7u));
    return __builtin_expect(seen && !SC_QUICK_IN_INTERRUPT(f) && sc_quiet.branches < sc_quiet.quiet, 1);
}

/* The state's depth is right: calls and what returns twice have probes that set it. */
SC_QUICK void sc_quick_step(sc_u32 site)
{
    sc_quiet.branches++;
    sc_quiet.last_site = site;
}

SC_QUICK sc_u32 sc_quick_site(const SC_ROM sc_d *table, sc_uint at)
{
    return (table[0] | (sc_u32)table[1] << 16) + table[at];
}

SC_QUICK sc_uint sc_quick_branch(sc_frame *f, const SC_ROM sc_d *table, sc_uint at, sc_uint dir)
{
    sc_u32 site = sc_quick_site(table, at);
    if (!sc_quick_may(f, table + at, dir)) return sc_branch(f, at, dir);
    sc_quick_mix(site << 1 | dir);
    sc_quick_step(site);
    return dir;
}

SC_QUICK sc_uint sc_quick_compare(sc_uint relation, sc_uptr a, sc_uptr b)
{
    sc_uptr left = relation & SC_RELATION_CONSTANT_LEFT ? b : a, right = relation & SC_RELATION_CONSTANT_LEFT ? a : b;
    sc_uint is_signed = relation & SC_RELATION_SIGNED;
    switch (relation & 3u) {
    case SC_RELATION_EQ: return a == b;
    case SC_RELATION_NE: return a != b;
    case SC_RELATION_LT: return is_signed ? (sc_iptr)left < (sc_iptr)right : left < right;
    default: return is_signed ? (sc_iptr)left <= (sc_iptr)right : left <= right;
    }
}

SC_QUICK sc_uptr sc_quick_constant(const SC_ROM sc_d *d)
{
    return d[3] >> 8 & SC_RELATION_SIGNED ? (sc_uptr)(sc_iptr)(signed short)d[5] : d[5];
}

SC_QUICK sc_uint sc_quick_test_at(sc_frame *f, const SC_ROM sc_d *table, sc_uint at, sc_uptr v, const volatile void *p)
{
    const SC_ROM sc_d *d = table + at;
    sc_uint dir = sc_quick_compare(d[3] >> 8, v, sc_quick_constant(d));
    sc_uptr word = (sc_uptr)p;
    if (__builtin_expect(sc_quick_leaves(f, d + 3, &word), 0)) return sc_cond1(f, at, dir, word);
    return sc_quick_branch(f, table, at, dir);
}

SC_QUICK sc_uint sc_quick_test(sc_frame *f, const SC_ROM sc_d *table, sc_uint at, sc_uptr v)
{
    const SC_ROM sc_d *d = table + at;
    sc_uint dir = sc_quick_compare(d[3] >> 8, v, sc_quick_constant(d));
    if (__builtin_expect(sc_quick_slot(f, d[4] & 0xFFFu), 0)) return sc_cond1(f, at, dir, v);
    return sc_quick_branch(f, table, at, dir);
}

SC_QUICK sc_uint sc_quick_test2(sc_frame *f, const SC_ROM sc_d *table, sc_uint at, sc_uptr a, sc_uptr b)
{
    const SC_ROM sc_d *d = table + at;
    sc_uint tainted = sc_quick_slot(f, d[4] & 0xFFFu) | sc_quick_slot(f, d[5] & 0xFFFu);
    sc_uint dir = sc_quick_compare(d[3] >> 8, a, b);
    if (__builtin_expect(tainted, 0)) return sc_cond2(f, at, dir, a, b);
    return sc_quick_branch(f, table, at, dir);
}

SC_QUICK sc_uint sc_quick_cond(sc_frame *f, const SC_ROM sc_d *table, sc_uint at, sc_uint dir, const sc_uptr *words)
{
    if (__builtin_expect(sc_quick_leaves(f, table + at + 3, words), 0)) return sc_cond(f, at, dir, words);
    return sc_quick_branch(f, table, at, dir);
}

SC_QUICK sc_uint sc_quick_cond1(sc_frame *f, const SC_ROM sc_d *table, sc_uint at, sc_uint dir, sc_uptr a)
{
    if (__builtin_expect(sc_quick_leaves(f, table + at + 3, &a), 0)) return sc_cond1(f, at, dir, a);
    return sc_quick_branch(f, table, at, dir);
}

SC_QUICK sc_uint sc_quick_cond2(sc_frame *f, const SC_ROM sc_d *table, sc_uint at, sc_uint dir, sc_uptr a, sc_uptr b)
{
    const sc_uptr words[2] = {a, b};
    if (__builtin_expect(sc_quick_leaves(f, table + at + 3, words), 0)) return sc_cond2(f, at, dir, a, b);
    return sc_quick_branch(f, table, at, dir);
}

SC_QUICK sc_uint sc_quick_switch(sc_frame *f, const SC_ROM sc_d *table, sc_uint at, sc_uint arm, sc_u64 v)
{
    sc_u32 site = sc_quick_site(table, at);
    if (sc_quick_dest(f, table[at + 3], 0) || !sc_quick_may(f, table + at, arm)) return sc_switch(f, at, arm, v);
    sc_quick_mix(site << 1);
    sc_quick_mix(arm);
    sc_quick_step(site);
    return arm;
}

SC_QUICK void sc_quick_assign(sc_frame *f, const SC_ROM sc_d *table, sc_uint at, const sc_uptr *words)
{
    const SC_ROM sc_d *d = table + at;
    sc_uint in_memory = d[1] >> 14 == SC_LEAF_MEMORY || d[1] >> 14 == SC_LEAF_GLOBAL;
    if (__builtin_expect(sc_quick_dest(f, d[1], words[0]) | sc_quick_leaves(f, d + 2, words + in_memory), 0))
        sc_assign(f, at, words);
}

SC_QUICK void sc_quick_assign1(sc_frame *f, const SC_ROM sc_d *table, sc_uint at, sc_uptr a)
{
    sc_uint in_memory = table[at + 1] >> 14 == SC_LEAF_MEMORY || table[at + 1] >> 14 == SC_LEAF_GLOBAL;
    const sc_uptr *leaves = in_memory ? 0 : &a;
    if (__builtin_expect(sc_quick_dest(f, table[at + 1], a) | sc_quick_leaves(f, table + at + 2, leaves), 0))
        sc_assign1(f, at, a);
}

SC_QUICK void sc_quick_assign2(sc_frame *f, const SC_ROM sc_d *table, sc_uint at, sc_uptr a, sc_uptr b)
{
    const sc_uptr words[2] = {a, b};
    sc_uint in_memory = table[at + 1] >> 14 == SC_LEAF_MEMORY || table[at + 1] >> 14 == SC_LEAF_GLOBAL;
    if (__builtin_expect(sc_quick_dest(f, table[at + 1], a) | sc_quick_leaves(f, table + at + 2, words + in_memory), 0))
        sc_assign2(f, at, a, b);
}

/* Behind the plain assignment's descriptor, whose leaf is what is read: size, flags, the address's leaves. */
SC_QUICK void sc_quick_select(sc_frame *f, const SC_ROM sc_d *table, sc_uint at, sc_uptr *words)
{
    const SC_ROM sc_d *d = table + at;
    sc_uint tainted = sc_quick_dest(f, d[1], 0) | sc_quick_leaves(f, d + 2, words);
    if (__builtin_expect(tainted | sc_quick_leaves(f, d + 7, words + 2), 0)) sc_select(f, at, words);
}

/* Behind the plain assignment's: size, stride, number of a pointer's leaves, the leaves of value and address. */
SC_QUICK void sc_quick_store(sc_frame *f, const SC_ROM sc_d *table, sc_uint at, sc_uptr *words)
{
    const SC_ROM sc_d *d = table + at;
    sc_uint behind = 3u + (d[2] & 0xFFu);
    sc_uint tainted = sc_quick_dest(f, d[1], words[0]) | sc_quick_leaves(f, d + behind + 4u, words + 2);
    if (__builtin_expect(tainted, 0)) sc_store(f, at, words);
}

SC_QUICK void sc_quick_pin(sc_frame *f, const SC_ROM sc_d *table, sc_uint at, const sc_uptr *words)
{
    if (!(table[at + 1] & 0xFFu) || sc_quick_leaves(f, table + at + 1, words)) sc_pin(f, at, words);
}

SC_QUICK void sc_quick_pin1(sc_frame *f, const SC_ROM sc_d *table, sc_uint at, sc_uptr a)
{
    if (!(table[at + 1] & 0xFFu) || sc_quick_leaves(f, table + at + 1, &a)) sc_pin1(f, at, a);
}

SC_QUICK void sc_quick_check(sc_frame *f, const SC_ROM sc_d *table, sc_uint at, sc_uint holds, const sc_uptr *words)
{
    if (__builtin_expect(!holds || sc_quick_leaves(f, table + at + 2, words), 0)) sc_check(f, at, holds, words);
}

SC_QUICK void sc_quick_check1(sc_frame *f, const SC_ROM sc_d *table, sc_uint at, sc_uint holds, sc_uptr a)
{
    if (__builtin_expect(!holds || sc_quick_leaves(f, table + at + 2, &a), 0)) sc_check1(f, at, holds, a);
}

/* Whether n bytes at p are right since the object is known that this site was in last. An activation in an interrupt
 * has no depth. */
SC_QUICK sc_uint sc_quick_inside(const sc_frame *f, sc_u32 site, sc_uptr p, sc_uptr origin, sc_size n)
{
    const sc_recent_object *known = sc_recent + site % SC_RECENT;
    sc_uptr offset = p - known->at;
    if (__builtin_expect(origin - known->at >= known->size || offset >= known->size, 0)) return 0;
    return __builtin_expect(n <= known->size - offset && SC_DEPTH(f) >= known->deep, 1);
}

SC_QUICK void sc_quick_within(sc_frame *f, const SC_ROM sc_d *table, sc_uint at, const volatile void *p,
                              const volatile void *origin, sc_size n)
{
    sc_u32 site = sc_quick_site(table, at);
    if (sc_quick_inside(f, site, (sc_uptr)p, (sc_uptr)origin, n)) sc_quiet.last_site = site;
    else sc_within(f, at, p, origin, n);
}

SC_QUICK void sc_quick_from(sc_frame *f, const SC_ROM sc_d *table, sc_uint at, const volatile void *p,
                            const volatile void *origin, sc_size n, const sc_uptr *words)
{
    sc_u32 site = sc_quick_site(table, at);
    if (sc_quick_inside(f, site, (sc_uptr)p, (sc_uptr)origin, n)) sc_quiet.last_site = site;
    else sc_from(f, at, p, origin, n, words);
}

/* Behind the number of bytes: the leaves of the address, and those of the origin. */
SC_QUICK sc_uint sc_quick_is_right(const sc_frame *f, const SC_ROM sc_d *d, sc_u32 site, sc_uptr p, sc_uptr origin,
                                   sc_size n, const sc_uptr *words)
{
    const SC_ROM sc_d *of_origin = d + 3 + (d[2] & 0xFFu);
    if (sc_quick_leaves(f, d + 2, words) | sc_quick_leaves(f, of_origin, words + sc_quick_sizes(d + 2))) return 0;
    return sc_quick_inside(f, site, p, origin, n);
}

SC_QUICK void sc_quick_bounds(sc_frame *f, const SC_ROM sc_d *table, sc_uint at, const volatile void *p,
                              const volatile void *origin, const sc_uptr *words)
{
    const SC_ROM sc_d *d = table + at;
    sc_u32 site = sc_quick_site(table, at);
    if (sc_quick_is_right(f, d, site, (sc_uptr)p, (sc_uptr)origin, d[1], words)) sc_quiet.last_site = site;
    else sc_bounds(f, at, p, origin, words);
}

SC_QUICK void sc_quick_span(sc_frame *f, const SC_ROM sc_d *table, sc_uint at, const volatile void *p,
                            const volatile void *origin, sc_size n, const sc_uptr *words)
{
    sc_u32 site = sc_quick_site(table, at);
    if (sc_quick_is_right(f, table + at, site, (sc_uptr)p, (sc_uptr)origin, n, words)) sc_quiet.last_site = site;
    else sc_span(f, at, p, origin, n, words);
}

/* No object is left: nothing is kept. (Nor is it of an object that has ended, nor in an interrupt.) */
SC_QUICK void sc_quick_stray(const volatile void *where, const volatile void *value, const volatile void *origin,
                             sc_uint varies)
{
    const sc_recent_object *known = sc_recent + SC_RECENT;
    sc_uptr to = (sc_uptr)value - known->at, from = (sc_uptr)origin - known->at;
    sc_uint inside = to < known->size && from < known->size;
    if (!__builtin_expect(inside && !sc_strays && !SC_IS_NUMBER(where), 1)) sc_stray(where, value, origin, varies);
}

SC_QUICK void sc_quick_clear(const void *p, sc_size n)
{
    if (!__builtin_constant_p(n) || n > 8u || sc_strays || sc_quick_memory(p, (sc_uint)n)) sc_clear(p, n);
}

/* From here on the names of probes mean these. */
#define sc_branch(f, at, dir) sc_quick_branch(f, sc_table, at, dir)
#define sc_test(f, at, v) sc_quick_test(f, sc_table, at, v)
#define sc_test_at(f, at, v, p) sc_quick_test_at(f, sc_table, at, v, p)
#define sc_test2(f, at, a, b) sc_quick_test2(f, sc_table, at, a, b)
#define sc_cond(...) sc_quick_cond(SC_IN_TABLE(__VA_ARGS__))
#define sc_cond1(f, at, dir, a) sc_quick_cond1(f, sc_table, at, dir, a)
#define sc_cond2(f, at, dir, a, b) sc_quick_cond2(f, sc_table, at, dir, a, b)
#define sc_switch(f, at, arm, v) sc_quick_switch(f, sc_table, at, arm, v)
#define sc_assign(...) sc_quick_assign(SC_IN_TABLE(__VA_ARGS__))
#define sc_assign1(f, at, a) sc_quick_assign1(f, sc_table, at, a)
#define sc_assign2(f, at, a, b) sc_quick_assign2(f, sc_table, at, a, b)
#define sc_select(...) sc_quick_select(SC_IN_TABLE(__VA_ARGS__))
#define sc_store(...) sc_quick_store(SC_IN_TABLE(__VA_ARGS__))
#define sc_pin(...) sc_quick_pin(SC_IN_TABLE(__VA_ARGS__))
#define sc_pin1(f, at, a) sc_quick_pin1(f, sc_table, at, a)
#define sc_check(...) sc_quick_check(SC_IN_TABLE(__VA_ARGS__))
#define sc_check1(f, at, holds, a) sc_quick_check1(f, sc_table, at, holds, a)
#define sc_within(...) sc_quick_within(SC_IN_TABLE(__VA_ARGS__))
#define sc_from(...) sc_quick_from(SC_IN_TABLE(__VA_ARGS__))
#define sc_bounds(...) sc_quick_bounds(SC_IN_TABLE(__VA_ARGS__))
#define sc_span(...) sc_quick_span(SC_IN_TABLE(__VA_ARGS__))
#define sc_stray(where, value, origin, varies) sc_quick_stray(where, value, origin, varies)
#define sc_clear(p, n) sc_quick_clear(p, n)
/* The words of an array stand between commas of their own. */
#define SC_IN_TABLE(f, ...) f, sc_table, __VA_ARGS__
#endif

#endif
