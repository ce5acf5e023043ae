/* The probes: each keeps the hashes, coverage and taint, and sends an event if something in it is tainted.
 *
 * No probe allocates, recurses or calls libc; scratch space is static because the program's stack may be small.
 * A probe that finds itself in an interrupt stays silent: interrupts are no part of a path. */
#include "state.h"

sc_state sc SC_RUNTIME_DATA;

static struct {
    sc_u64 value[SC_MAX_LEAVES];
    const void *address[SC_MAX_LEAVES];
    sc_u8 taint[SC_MAX_LEAVES]; /* mask of tainted bytes; all of them for a slot */
} leaf SC_RUNTIME_DATA;

static sc_u64 load(const void *p, sc_u32 bytes)
{
    const sc_u8 *b = (const sc_u8 *)p;
    sc_u64 v = 0;
    while (bytes--) v = v << 8 | b[bytes];
    return v;
}

/* Fetch the leaves w[0..n) from the words that the probe was given; returns 1 if any is tainted. */
static sc_u32 fetch(const sc_u32 *m, const SC_ROM sc_d *w, sc_u32 n, const sc_uptr *words)
{
    sc_u32 i, tainted = 0;
    for (i = 0; i < n; i++) {
        sc_u32 word = w[i], bytes = BYTES(word), taint = 0;
        if (KIND(word) == SLOT) {
            sc_u64 value = *words++;
            if (bytes > sizeof *words) value |= (sc_u64)*words++ << 32;
            leaf.value[i] = value;
            if (sc_slot_taint(m, INDEX(word))) taint = (1u << bytes) - 1u;
        } else if (KIND(word) != NONE) {
            leaf.address[i] = (const void *)*words++;
            taint = sc_taint_get(leaf.address[i], bytes);
        }
        leaf.taint[i] = (sc_u8)taint;
        tainted |= taint;
    }
    return tainted != 0;
}

static sc_u64 leaf_value(sc_u32 word, sc_u32 i)
{
    if (KIND(word) == NONE) return 0;
    return KIND(word) == SLOT ? leaf.value[i] : load(leaf.address[i], BYTES(word));
}

static void send_leaves(const SC_ROM sc_d *w, sc_u32 n)
{
    sc_u32 i;
    sc_u64 mask = 0;
    for (i = 0; i < n; i++) {
        sc_u32 full = (1u << BYTES(w[i])) - 1u;
        if (leaf.taint[i]) mask |= (sc_u64)(leaf.taint[i] == full ? 1u : 2u) << 2u * i;
    }
    if (n >= 2 || (n == 1 && KIND(w[0]) != SLOT && BYTES(w[0]) > 1)) sc_varint(mask);
    for (i = 0; i < n; i++) {
        sc_u32 kind = KIND(w[i]), bytes = BYTES(w[i]), state = (sc_u32)(mask >> 2u * i) & 3u;
        if (state && kind == MEMORY) sc_address(leaf.address[i]);
        if (state == 2) sc_varint(leaf.taint[i]);
        if (state == 1) continue;
        sc_signed(sc_extend(leaf_value(w[i], i), bytes));
    }
}

/* The check over what conditions compared: all their leaves, as far as these have bytes. */
static void hash_operand(sc_u64 value, sc_u32 bytes)
{
    if (bytes < 4) value &= SC_BIT(8u * bytes) - 1u;
    sc_mix(&sc.operand, (sc_u32)value);
    if (bytes == 8) sc_mix(&sc.operand, (sc_u32)(value >> 32));
}

static void step(void)
{
    if (++sc.branches > sc.max_branches) sc_end(SC_VERDICT_HANG, 0);
}

static void cover(sc_u32 index)
{
    sc_u8 mask = (sc_u8)(1u << (index & 7u));
    if (!(sc_coverage_run[index >> 3] & mask)) {
        sc_coverage_run[index >> 3] |= mask;
        sc.coverage_new = 1;
    }
}

void sc_tick(void)
{
    if (!SC_IN_INTERRUPT()) step();
}

sc_uint sc_branch(sc_frame *f, sc_uint at, sc_uint dir)
{
    const SC_ROM sc_d *d = DESCRIPTOR(f, at);
    sc_u32 site = SITE(f, d);
    if (SC_IN_INTERRUPT()) return dir;
    sc.sent = 0;
    sc.last_site = site;
    sc_mix(&sc.path, site << 1 | dir);
    cover((d[1] | (sc_u32)d[2] << 16) + dir);
    step();
    return dir;
}

sc_uint sc_cond(sc_frame *f, sc_uint at, sc_uint dir, const sc_uptr *words)
{
    const SC_ROM sc_d *d = DESCRIPTOR(f, at);
    sc_u32 *m = MASKS(f);
    sc_u32 depth, i, n = d[3] & 0xFFu;
    if (SC_IN_INTERRUPT()) return dir;
    sc_branch(f, at, dir);
    depth = sc_at_site(f, d);
    if (!fetch(m, d + 4, n, words)) return dir;
    sc_event(SITE(f, d), depth, dir);
    send_leaves(d + 4, n);
#ifdef SC_VERIFY
    sc_signed((sc_i64)dir);
#endif
    for (i = 0; i < n; i++) hash_operand(leaf_value(d[4 + i], i), BYTES(d[4 + i]));
    sc_condition(SITE(f, d) << 1 | dir, 0, 0);
    return dir;
}

sc_uint sc_cond1(sc_frame *f, sc_uint at, sc_uint dir, sc_uptr a)
{
    const SC_ROM sc_d *d = DESCRIPTOR(f, at);
    sc_u32 *m = MASKS(f);
    if (KIND(d[4]) == SLOT && !sc_slot_taint(m, INDEX(d[4]))) {
        if (!SC_IN_INTERRUPT()) sc_at_site(f, d);
        return sc_branch(f, at, dir);
    }
    return sc_cond(f, at, dir, &a);
}

/* Whether a and b stand in the relation: 0 ==, 1 !=, 2 <, 3 <=; +4: as signed numbers; +8: b stands on the left. */
static sc_u32 compare(sc_u32 relation, sc_uptr a, sc_uptr b)
{
    sc_u32 below = relation & 4u ? (sc_iptr)a < (sc_iptr)b : a < b;
    switch (relation & 3u) {
    case 0: return a == b;
    case 1: return a != b;
    case 2: return relation & 8u ? !below && a != b : below;
    default: return relation & 8u ? !below : below || a == b;
    }
}

/* With the constant after the leaf word. */
static sc_u32 compare_constant(const SC_ROM sc_d *d, sc_uptr v)
{
    sc_u32 relation = d[3] >> 8;
    return compare(relation, v, relation & 4u ? (sc_uptr)(sc_iptr)(signed short)d[5] : d[5]);
}

sc_uint sc_test(sc_frame *f, sc_uint at, sc_uptr v)
{
    return sc_cond1(f, at, compare_constant(DESCRIPTOR(f, at), v), v);
}

sc_uint sc_test_at(sc_frame *f, sc_uint at, sc_uptr v, const volatile void *p)
{
    return sc_cond1(f, at, compare_constant(DESCRIPTOR(f, at), v), (sc_uptr)p);
}

sc_uint sc_test2(sc_frame *f, sc_uint at, sc_uptr a, sc_uptr b)
{
    return sc_cond2(f, at, compare(DESCRIPTOR(f, at)[3] >> 8, a, b), a, b);
}

sc_uint sc_cond2(sc_frame *f, sc_uint at, sc_uint dir, sc_uptr a, sc_uptr b)
{
    sc_uptr words[2];
    words[0] = a;
    words[1] = b;
    return sc_cond(f, at, dir, words);
}

sc_uint sc_switch(sc_frame *f, sc_uint at, sc_uint arm, sc_u64 v)
{
    const SC_ROM sc_d *d = DESCRIPTOR(f, at);
    sc_u32 *m = MASKS(f);
    sc_u32 site = SITE(f, d), i, depth;
    if (SC_IN_INTERRUPT()) return arm;
    depth = sc_at_site(f, d);
    sc_mix(&sc.path, site << 1);
    sc_mix(&sc.path, arm);
    cover((d[1] | (sc_u32)d[2] << 16) + arm);
    if (KIND(d[3]) == SLOT && sc_slot_taint(m, INDEX(d[3]))) {
        sc_event(SITE(f, d), depth, 0);
        sc_varint(arm);
#ifdef SC_VERIFY
        sc_signed(sc_extend(v, BYTES(d[3])));
#endif
        hash_operand(v, BYTES(d[3]));
        for (i = 0; i < d[4] && i <= arm; i++) sc_condition(site << 1 | (i == arm), i, 1);
    }
    step();
    return arm;
}

void sc_assign(sc_frame *f, sc_uint at, const sc_uptr *words)
{
    const SC_ROM sc_d *d = DESCRIPTOR(f, at);
    sc_u32 *m = MASKS(f);
    const void *to = 0;
    sc_u32 dest = d[1], n = d[2], tainted, depth;
    if (SC_IN_INTERRUPT()) return;
    depth = sc_at_site(f, d);
    if (KIND(dest) == MEMORY || KIND(dest) == GLOBAL) to = (const void *)*words++;
    tainted = fetch(m, d + 3, n, words);
    if (to && tainted) sc_taint_set(to, BYTES(dest), SITE(f, d)); /* first: what it reports must not part event and value */
    else if (to) sc_taint_clear(to, BYTES(dest));
    else if (KIND(dest) == SLOT) sc_set_slot(m, INDEX(dest), tainted);
    if (!tainted) return;
    sc_event(SITE(f, d), depth, 0);
    send_leaves(d + 3, n);
    if (KIND(dest) == MEMORY) sc_address(to);
    sc.value_bytes = BYTES(dest);
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
    const SC_ROM sc_d *d = DESCRIPTOR(f, at);
    sc_u32 *m = MASKS(f);
    sc_u32 depth;
    if (SC_IN_INTERRUPT()) return;
    depth = sc_at_site(f, d);
    if (!fetch(m, d + 2, d[1], words) && d[1]) return; /* without leaves it is a note, always sent */
    sc_event(SITE(f, d), depth, 0);
    send_leaves(d + 2, d[1]);
    sc.sent = 0;
}

void sc_pin1(sc_frame *f, sc_uint at, sc_uptr a)
{
    sc_pin(f, at, &a);
}

void sc_copy(sc_frame *f, sc_uint at, void *dst, const void *src, sc_size n)
{
    const SC_ROM sc_d *d = DESCRIPTOR(f, at);
    sc_u32 depth;
    if (SC_IN_INTERRUPT()) return;
    depth = sc_at_site(f, d);
    if (dst == src) return;
    if (!sc_taint_any(src, n)) {
        sc_taint_clear(dst, n);
        return;
    }
    sc_event(SITE(f, d), depth, 0);
    sc_address(dst);
    sc_address(src);
    sc_varint(n);
    sc.sent = 0;
    sc_taint_copy(dst, src, n, SITE(f, d));
}

void sc_clear(const void *p, sc_size n)
{
    if (!SC_IN_INTERRUPT()) sc_taint_clear(p, n);
}

sc_uint sc_tainted(const void *p, sc_size n)
{
    return !SC_IN_INTERRUPT() && sc_taint_any(p, n);
}

static sc_u32 next_input(void)
{
    sc_u32 i = sc.input_used++;
    return i < sc.input_size ? sc_input[i] : 0;
}

sc_u64 sc_sym_slot(sc_frame *f, sc_uint at)
{
    const SC_ROM sc_d *d = DESCRIPTOR(f, at);
    sc_u32 *m = MASKS(f);
    sc_u64 v = 0;
    sc_u32 i, depth;
    if (SC_IN_INTERRUPT()) return 0;
    depth = sc_at_site(f, d);
    sc_event(SITE(f, d), depth, 0);
    for (i = 0; i < BYTES(d[1]); i++) v |= (sc_u64)next_input() << 8u * i;
    sc_set_slot(m, INDEX(d[1]), 1);
    sc.sent = 0;
    return v;
}

void sc_sym_mem(sc_frame *f, sc_uint at, void *p, sc_size n)
{
    const SC_ROM sc_d *d = DESCRIPTOR(f, at);
    sc_u8 *to = (sc_u8 *)p;
    sc_size i;
    sc_u32 depth;
    if (SC_IN_INTERRUPT() || !n) return;
    depth = sc_at_site(f, d);
    for (i = 0; i < n; i++) to[i] = (sc_u8)next_input();
    sc_event(SITE(f, d), depth, 0);
    if (KIND(d[1]) == MEMORY) sc_address(p);
    if (d[2]) sc_varint(n);
    sc.sent = 0;
    sc_taint_set(p, n, SITE(f, d));
}

void sc_value(sc_u64 v)
{
#ifdef SC_VERIFY
    if (sc.sent && !SC_IN_INTERRUPT()) sc_signed(sc_extend(v, sc.value_bytes));
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
