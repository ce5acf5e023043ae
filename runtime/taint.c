/* Taint of memory: one bit a byte of the program's RAM, with three levels of summary above it.
 *
 * A summary bit says that the word below it may be non-zero; clearing leaves it set and walking mends it. So a
 * test's taint is found and wiped in time proportional to what was tainted, however large the map.
 *
 * The shadow is a copy of all tainted bytes, taken before opaque code runs and compared after it: what the code
 * changed is untainted and reported. */
#include "state.h"

#define WORDS (SC_RAM_SIZE / 32u)
#define GROUPS ((WORDS + 31u) / 32u)
#define TOPS ((GROUPS + 31u) / 32u)
#define ROOTS ((TOPS + 31u) / 32u)

sc_uint sc_any SC_RUNTIME_DATA;

static sc_u32 bits[WORDS] SC_RUNTIME_DATA;
static sc_u32 groups[GROUPS] SC_RUNTIME_DATA;
static sc_u32 tops[TOPS] SC_RUNTIME_DATA;
static sc_u32 roots[ROOTS] SC_RUNTIME_DATA;

static struct {
    sc_u32 count, word[SC_SHADOW], rest; /* rest: CRC of tainted bytes beyond the shadow's capacity */
    sc_u8 copy[SC_SHADOW][32];
} shadow SC_RUNTIME_DATA;

/* Offset of p in the map, and n cut to what the map covers; 0 if nothing of it is. */
static sc_size reach(const void *p, sc_size n, sc_size *at)
{
    sc_uptr offset = (sc_uptr)p - SC_RAM_BASE;
    if (offset >= SC_RAM_SIZE) return 0;
    *at = offset;
    return n > SC_RAM_SIZE - offset ? SC_RAM_SIZE - offset : n;
}

static void mark(sc_u32 w, sc_u32 mask)
{
    bits[w] |= mask;
    groups[w >> 5] |= SC_BIT(w & 31u);
    tops[w >> 10] |= SC_BIT(w >> 5 & 31u);
    roots[w >> 15] |= SC_BIT(w >> 10 & 31u);
    sc_any = 1;
}

/* Bits of word w that belong to [at, at + n). */
static sc_u32 span(sc_size w, sc_size at, sc_size n)
{
    sc_size first = w * 32u, last = first + 32u, end = at + n;
    sc_u32 mask = 0xFFFFFFFFu;
    if (at > first) mask &= 0xFFFFFFFFu << (at - first);
    if (end < last) mask &= 0xFFFFFFFFu >> (last - end);
    return mask;
}

sc_u32 sc_taint_get(const void *p, sc_u32 n)
{
    sc_size at = 0;
    sc_u32 got = (sc_u32)reach(p, n, &at), low, w = (sc_u32)(at >> 5), shift = (sc_u32)at & 31u;
    if (!got) return 0;
    low = bits[w] >> shift;
    if (shift + got > 32u) low |= bits[w + 1] << (32u - shift);
    return low & ((1u << got) - 1u);
}

sc_u32 sc_taint_any(const void *p, sc_size n)
{
    sc_size at = 0, w;
    n = reach(p, n, &at);
    if (!n || !sc_any) return 0;
    for (w = at >> 5; w <= (at + n - 1) >> 5; w++)
        if (bits[w] & span(w, at, n)) return 1;
    return 0;
}

void sc_taint_set(const void *p, sc_size n, sc_u32 site)
{
    sc_size at = 0, w, got = reach(p, n, &at);
    if (got < n) { /* a symbolic value leaves what we can follow: the host must know */
        sc_head(5, 0);
        sc_varint(site);
    }
    if (!got) return;
    for (w = at >> 5; w <= (at + got - 1) >> 5; w++) mark((sc_u32)w, span(w, at, got));
}

void sc_taint_clear(const void *p, sc_size n)
{
    sc_size at = 0, w;
    n = reach(p, n, &at);
    if (!n || !sc_any) return;
    for (w = at >> 5; w <= (at + n - 1) >> 5; w++) bits[w] &= ~span(w, at, n);
}

static sc_u32 bit(sc_uptr offset)
{
    return offset < SC_RAM_SIZE && (bits[offset >> 5] >> (offset & 31u) & 1u);
}

static void copy_bit(sc_uptr to, sc_uptr from)
{
    if (bit(from)) {
        if (to < SC_RAM_SIZE) mark((sc_u32)(to >> 5), SC_BIT(to & 31u));
    } else if (to < SC_RAM_SIZE) {
        bits[to >> 5] &= ~SC_BIT(to & 31u);
    }
}

/* As memmove would: each source bit is read before it is overwritten. */
void sc_taint_copy(const void *dst, const void *src, sc_size n, sc_u32 site)
{
    sc_uptr to = (sc_uptr)dst - SC_RAM_BASE, from = (sc_uptr)src - SC_RAM_BASE;
    sc_size i, at = 0;
    if (reach(dst, n, &at) < n) {
        sc_head(5, 0);
        sc_varint(site);
    }
    if (to == from) return;
    if (to - from >= n) /* forward is safe: dst is before src or not in it */
        for (i = 0; i < n; i++) copy_bit(to + i, from + i);
    else
        for (i = n; i-- > 0;) copy_bit(to + i, from + i);
}

/* The words of one top word; mends it. */
static void walk_top(sc_u32 t, void (*f)(sc_u32 w, sc_u32 context), sc_u32 context)
{
    sc_u32 tb, gb;
    for (tb = tops[t]; tb; tb &= tb - 1u) {
        sc_u32 g = t * 32u + SC_LOWEST(tb);
        for (gb = groups[g]; gb; gb &= gb - 1u) {
            sc_u32 w = g * 32u + SC_LOWEST(gb);
            if (bits[w]) f(w, context);
            if (!bits[w]) groups[g] &= ~SC_BIT(w & 31u);
        }
        if (!groups[g]) tops[t] &= ~SC_BIT(g & 31u);
    }
}

/* Call f for every word with taint; mends the summaries on the way. sc_any becomes exact. */
static void walk(void (*f)(sc_u32 w, sc_u32 context), sc_u32 context)
{
    sc_u32 r, rb, any = 0;
    if (!sc_any) return;
    for (r = 0; r < ROOTS; r++) {
        for (rb = roots[r]; rb; rb &= rb - 1u) {
            sc_u32 t = r * 32u + SC_LOWEST(rb);
            walk_top(t, f, context);
            if (!tops[t]) roots[r] &= ~SC_BIT(t & 31u);
        }
        any |= roots[r];
    }
    sc_any = any != 0;
}

static void wipe(sc_u32 w, sc_u32 context)
{
    (void)context;
    bits[w] = 0;
}

void sc_taint_reset(void)
{
    sc_any = 1; /* summaries may be set though sc_any was mended */
    walk(wipe, 0);
    sc_any = 0;
    shadow.count = 0;
}

static const sc_u8 *ram(sc_u32 w)
{
    return (const sc_u8 *)(sc_uptr)(SC_RAM_BASE + w * 32u);
}

static sc_u32 checksum(sc_u32 crc, sc_u32 w)
{
    sc_u32 i;
    for (i = 0; i < 32; i++)
        if (bits[w] >> i & 1u) crc = sc_crc32(crc, ram(w) + i, 1);
    return crc;
}

static void take(sc_u32 w, sc_u32 context)
{
    (void)context;
    if (shadow.count < SC_SHADOW) {
        shadow.word[shadow.count] = w;
        sc_copy_bytes(shadow.copy[shadow.count], ram(w), 32);
    } else {
        shadow.rest = checksum(shadow.rest, w);
    }
    shadow.count++;
}

void sc_shadow_take(void)
{
    shadow.count = shadow.rest = 0;
    walk(take, 0);
}

static void report(sc_u32 w, sc_u32 mask, sc_u32 site)
{
    while (mask) { /* one event a run of changed bytes */
        sc_u32 first = SC_LOWEST(mask), n = 0;
        while (first + n < 32u && (mask >> (first + n) & 1u)) n++;
        sc_head(2, 0);
        sc_varint(site);
        sc_address(ram(w) + first);
        sc_varint(n);
        bits[w] &= ~((n == 32u ? 0xFFFFFFFFu : SC_BIT(n) - 1u) << first);
        mask &= ~((n == 32u ? 0xFFFFFFFFu : SC_BIT(n) - 1u) << first);
    }
}

static struct { sc_u32 seen, rest; } compare SC_RUNTIME_DATA;

static void check(sc_u32 w, sc_u32 site)
{
    sc_u32 i, changed = 0, k = compare.seen++;
    if (k < SC_SHADOW) { /* taint does not change in opaque code: the walk meets the same words in the same order */
        for (i = 0; i < 32; i++)
            if (ram(w)[i] != shadow.copy[k][i]) changed |= SC_BIT(i);
        report(w, changed & bits[w], site);
    } else {
        compare.rest = checksum(compare.rest, w);
    }
}

static void drop_rest(sc_u32 w, sc_u32 site)
{
    if (compare.seen++ >= compare.rest) report(w, bits[w], site);
}

/* What did opaque code change of what sc_shadow_take saw? Beyond the shadow's capacity: all of it or nothing. */
void sc_shadow_compare(sc_u32 site)
{
    sc_u32 kept = shadow.count < SC_SHADOW ? shadow.count : SC_SHADOW;
    compare.seen = compare.rest = 0;
    if (!shadow.count) return;
    walk(check, site);
    if (shadow.count > SC_SHADOW && compare.rest != shadow.rest) {
        sc_u32 i, gone = 0;
        for (i = 0; i < kept; i++) gone += bits[shadow.word[i]] == 0; /* emptied above: the walk skips them now */
        compare.seen = 0;
        compare.rest = kept - gone;
        walk(drop_rest, site);
    }
    shadow.count = 0;
}
