/* The probes: each keeps the hashes, coverage and taint, and sends an event if something in it is tainted.
 *
 * No probe allocates, recurses or calls libc; scratch space is static because the program's stack may be small.
 * A probe that finds itself in an interrupt stays silent: interrupts are no part of a path. */
#include <stdarg.h>

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

/* Fetch the leaves w[0..n) from the tail; returns 1 if any is tainted. */
#define FETCH(tainted, m, w, n, tail)                                                             \
    do {                                                                                          \
        sc_u32 i_;                                                                                \
        (tainted) = 0;                                                                            \
        for (i_ = 0; i_ < (n); i_++) {                                                            \
            sc_u32 word_ = (w)[i_], bytes_ = BYTES(word_), full_ = (1u << bytes_) - 1u;           \
            leaf.taint[i_] = 0;                                                                   \
            leaf.value[i_] = 0;                                                                   \
            if (KIND(word_) == SLOT) {                                                            \
                leaf.value[i_] = bytes_ == 8 ? va_arg(tail, sc_u64) : (sc_u64)va_arg(tail, sc_u32); \
                if (sc_slot_taint(m, INDEX(word_))) leaf.taint[i_] = (sc_u8)full_;                   \
            } else if (KIND(word_) != NONE) {                                                     \
                leaf.address[i_] = va_arg(tail, const void *);                                    \
                leaf.taint[i_] = (sc_u8)sc_taint_get(leaf.address[i_], bytes_);                   \
            }                                                                                     \
            (tainted) |= leaf.taint[i_] != 0;                                                     \
        }                                                                                         \
    } while (0)

static void send_leaves(const sc_d *w, sc_u32 n)
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
        sc_signed(sc_extend(kind == SLOT ? leaf.value[i] : kind == NONE ? 0 : load(leaf.address[i], bytes), bytes));
    }
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

void sc_branch(const sc_d *d, sc_u32 dir)
{
    sc_u32 site = SITE(d);
    if (SC_IN_INTERRUPT()) return;
    dir = dir != 0;
    sc.sent = 0;
    sc.last_site = site;
    sc_mix(&sc.path, site << 1 | dir);
    cover((d[2] | (sc_u32)d[3] << 16) + dir);
    step();
}

void sc_cond(const sc_d *d, sc_u32 *m, sc_u32 dir, sc_u64 a, sc_u64 b, ...)
{
    va_list tail;
    sc_u32 tainted, depth, n = d[4];
    if (SC_IN_INTERRUPT()) return;
    dir = dir != 0;
    sc_branch(d, dir);
    depth = sc_at_site(d, m);
    va_start(tail, b);
    FETCH(tainted, m, d + 5, n, tail);
    va_end(tail);
    if (!tainted) return;
    sc_event(d, depth, dir);
    send_leaves(d + 5, n);
#ifdef SC_VERIFY
    sc_signed((sc_i64)dir);
#endif
    sc_mix(&sc.operand, (sc_u32)a);
    sc_mix(&sc.operand, (sc_u32)(a >> 32));
    sc_mix(&sc.operand, (sc_u32)b);
    sc_mix(&sc.operand, (sc_u32)(b >> 32));
    sc_condition(SITE(d) << 1 | dir, 0, 0);
}

void sc_switch(const sc_d *d, sc_u32 *m, sc_u32 arm, sc_u64 v)
{
    sc_u32 site = SITE(d), i, depth;
    if (SC_IN_INTERRUPT()) return;
    depth = sc_at_site(d, m);
    sc_mix(&sc.path, site << 1);
    sc_mix(&sc.path, arm);
    cover((d[2] | (sc_u32)d[3] << 16) + arm);
    if (KIND(d[4]) == SLOT && sc_slot_taint(m, INDEX(d[4]))) {
        sc_event(d, depth, 0);
        sc_varint(arm);
#ifdef SC_VERIFY
        sc_signed(sc_extend(v, BYTES(d[4])));
#endif
        sc_mix(&sc.operand, (sc_u32)v);
        sc_mix(&sc.operand, (sc_u32)(v >> 32));
        for (i = 0; i < d[5] && i <= arm; i++) sc_condition(site << 1 | (i == arm), i, 1);
    }
    step();
}

void sc_assign(const sc_d *d, sc_u32 *m, ...)
{
    va_list tail;
    const void *to = 0;
    sc_u32 dest = d[2], n = d[3], tainted, depth;
    if (SC_IN_INTERRUPT()) return;
    depth = sc_at_site(d, m);
    va_start(tail, m);
    if (KIND(dest) == MEMORY || KIND(dest) == GLOBAL) to = va_arg(tail, const void *);
    FETCH(tainted, m, d + 4, n, tail);
    va_end(tail);
    if (to && tainted) sc_taint_set(to, BYTES(dest), SITE(d)); /* first: what it reports must not part event and value */
    else if (to) sc_taint_clear(to, BYTES(dest));
    else if (KIND(dest) == SLOT) sc_set_slot(m, INDEX(dest), tainted);
    if (!tainted) return;
    sc_event(d, depth, 0);
    send_leaves(d + 4, n);
    if (KIND(dest) == MEMORY) sc_address(to);
    sc.value_bytes = BYTES(dest);
}

void sc_pin(const sc_d *d, sc_u32 *m, ...)
{
    va_list tail;
    sc_u32 tainted, depth;
    if (SC_IN_INTERRUPT()) return;
    depth = sc_at_site(d, m);
    va_start(tail, m);
    FETCH(tainted, m, d + 3, d[2], tail);
    va_end(tail);
    if (!tainted && d[2]) return; /* without leaves it is a note, always sent */
    sc_event(d, depth, 0);
    send_leaves(d + 3, d[2]);
    sc.sent = 0;
}

void sc_copy(const sc_d *d, sc_u32 *m, void *dst, const void *src, sc_size n)
{
    sc_u32 depth;
    if (SC_IN_INTERRUPT()) return;
    depth = sc_at_site(d, m);
    if (dst == src) return;
    if (!sc_taint_any(src, n)) {
        sc_taint_clear(dst, n);
        return;
    }
    sc_event(d, depth, 0);
    sc_address(dst);
    sc_address(src);
    sc_varint(n);
    sc.sent = 0;
    sc_taint_copy(dst, src, n, SITE(d));
}

void sc_clear(const void *p, sc_size n)
{
    if (!SC_IN_INTERRUPT()) sc_taint_clear(p, n);
}

sc_u32 sc_tainted(const void *p, sc_size n)
{
    return !SC_IN_INTERRUPT() && sc_taint_any(p, n);
}

static sc_u32 next_input(void)
{
    sc_u32 i = sc.input_used++;
    return i < sc.input_size ? sc_input[i] : 0;
}

sc_u64 sc_sym_slot(const sc_d *d, sc_u32 *m)
{
    sc_u64 v = 0;
    sc_u32 i, depth;
    if (SC_IN_INTERRUPT()) return 0;
    depth = sc_at_site(d, m);
    sc_event(d, depth, 0);
    for (i = 0; i < BYTES(d[2]); i++) v |= (sc_u64)next_input() << 8u * i;
    sc_set_slot(m, INDEX(d[2]), 1);
    sc.sent = 0;
    return v;
}

void sc_sym_mem(const sc_d *d, sc_u32 *m, void *p, sc_size n)
{
    sc_u8 *to = (sc_u8 *)p;
    sc_size i;
    sc_u32 depth;
    if (SC_IN_INTERRUPT() || !n) return;
    depth = sc_at_site(d, m);
    for (i = 0; i < n; i++) to[i] = (sc_u8)next_input();
    sc_event(d, depth, 0);
    if (KIND(d[2]) == MEMORY) sc_address(p);
    if (d[3]) sc_varint(n);
    sc.sent = 0;
    sc_taint_set(p, n, SITE(d));
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

void sc_assert_fail(const sc_d *d)
{
    sc.last_site = SITE(d);
    sc.pc = (sc_u64)(sc_uptr)__builtin_return_address(0);
    sc_end(SC_VERDICT_ASSERTION, 0);
}

void sc_assume_fail(void)
{
    sc_end(SC_VERDICT_ASSUMPTION, 0);
}
