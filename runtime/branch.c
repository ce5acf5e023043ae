/* Branches: which way the program goes makes its path. Each direction is hashed and covered, and counts in the
 * budget, so that a loop without end is a hang; where what was compared is symbolic, it is a condition, which the
 * host may negate. */
#include "snapshot.h"
#include "straight.h"

#ifndef SC_QUIET_STATE
void sc_step(void)
{
    sc_next_branch();
}
#endif

void sc_tick(void)
{
    if (!SC_IN_INTERRUPT()) sc_step();
}

/* A branch, or the arm of a switch: x names the direction in the path. */
SC_PIECE void take_branch(const SC_ROM sc_d *d, sc_u32 x, sc_u32 arm)
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
        sc_condition_ends();
    }
    return dir;
}

/* What nearly all conditions of a path are, in one piece where code may be large: of one leaf, whose bytes lie at p and
 * are symbolic, all of them. Returns 0 if it is another one, or the run is a special one. */
SC_PIECE sc_u32 straight(const sc_frame *f, const SC_ROM sc_d *d, sc_u32 dir, const void *p)
{
#if defined SC_QUIET_STATE && !defined SC_VERIFY
    sc_u32 word = d[4], bytes = BYTES(word), in_slot = KIND(word) == SLOT, x;
    if (sc.flags & SC_RUN_EAGER || d[3] & SC_FLOATS || !MASKS(f)[0]) return 0; /* in an interrupt */
    if (in_slot && !sc_slot_taint(MASKS(f), INDEX(word))) return 0;
    if (!in_slot && (INDEX(word) || !SC_IS_MEMORY(p) || !sc_all_symbolic(p, bytes))) return 0;
    sc.last_site = SITE(f, d);
    sc.depth = sc_depth(f);
    x = sc.last_site << 1 | dir;
    take_branch(d, x, dir);
    sc_short_event(x, !in_slot && bytes > 1u, KIND(word) == MEMORY ? p : 0);
    sc_hash_number(sc_load(p, bytes), bytes);
    sc_condition(x);
    if (!in_slot) sc_touch(p, bytes);
    sc_condition_ends();
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
    return sc_cond1(f, at,
                    compare(relation, v, relation & SC_RELATION_SIGNED ? (sc_uptr)(sc_iptr)(signed short)d[5] : d[5]),
                    (sc_uptr)p);
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
        sc_hash_operand(&v, BYTES(d[3]), 0);
        for (i = 0; i < d[4] && i <= arm; i++) {
            sc_mix(&sc.condition, site | (i == arm));
            sc_condition(i);
        }
    }
    return arm;
}
