/* Taint of memory: one bit a byte of the program's RAM, with summaries above it.
 *
 * A summary says that what lies below it may be non-zero; clearing leaves it set and walking mends it. So a
 * test's taint is found and wiped in time proportional to what was tainted, however large the map.
 *
 * The shadow is a copy of all tainted bytes, taken before opaque code runs and compared after it: what the code
 * changed is untainted and reported. */
#include "snapshot.h"

#ifndef SC_MAP_SIZE /* the profile may have it cover less than the RAM */
#define SC_MAP_BASE SC_RAM_BASE
#define SC_MAP_SIZE SC_RAM_SIZE
#endif
#define WORDS (SC_MAP_SIZE / 32u)
#define COUNT(size) ((WORDS + (size) - 1u) / (size))
enum { FAR = WORDS > 0x8000u }; /* a map so large that the summaries need summaries */
#ifdef SC_QUIET_STATE /* where code may be large: most of what is asked about has a way of its own */
enum { SHORT = 1 };
#else
enum { SHORT = FAR };
#endif

sc_uint sc_any SC_RUNTIME_DATA;

#ifdef SC_QUIET_STATE /* instrumented code looks there, too (quiet.h) */
#define bits sc_taint_bits
typedef char covers_what_quiet_code_takes_it_to[SC_MAP_BASE == SC_QUIET_BASE && SC_MAP_SIZE == SC_QUIET_SIZE ? 1 : -1];
sc_u32 bits[WORDS + 1] SC_RUNTIME_DATA; /* the last byte and the one behind it may be read at once */
#else
static sc_u32 bits[WORDS] SC_RUNTIME_DATA;
#endif
static sc_u8 groups[COUNT(0x20u)] SC_RUNTIME_DATA;
static sc_u8 tops[COUNT(0x400u)] SC_RUNTIME_DATA;
static sc_u8 roots[COUNT(0x8000u)] SC_RUNTIME_DATA;
static sc_u32 roots_end SC_RUNTIME_DATA; /* those from here on are 0 */

static struct {
    sc_u8 copy[SC_SHADOW][32];
    sc_u32 rest; /* CRC of tainted bytes beyond the shadow's capacity */
} shadow SC_RUNTIME_DATA;

static struct { /* of a large map: the words that were met, so that they are not looked for again */
    sc_u32 count, at[FAR ? SC_SHADOW : 1];
} met SC_RUNTIME_DATA;

static void mark(sc_u32 w)
{
    groups[w >> 5] = 1;
    if (!FAR) return;
    tops[w >> 10] = roots[w >> 15] = 1;
    if (roots_end <= w >> 15) roots_end = (w >> 15) + 1u;
}

static sc_u32 turn_left(sc_u32 v, sc_u32 by)
{
    return v << by | v >> (-by & 31u);
}

/* What there is of taint in the n bytes from p on, as far as the map reaches: bit i is byte i's, where n is more than
 * 32 also byte i + 32's … And then, if `write`, their taint becomes `value`, bit by bit likewise. */
sc_u32 sc_taint(const void *p, sc_size n, sc_u32 write, sc_u32 value)
{
    sc_uptr at = (sc_uptr)p - SC_MAP_BASE, end;
    sc_u32 turn = (sc_u32)at & 31u, found = 0;
    if (at >= SC_MAP_SIZE || !(sc_any | value)) return 0;
    if (SHORT && n <= 8u && turn + n <= 32u) { /* a scalar, in one word */
        sc_u32 *word = &bits[at >> 5], all = (1u << n) - 1u;
        found = *word >> turn & all;
        if (found) sc_touch(p, n);
        value &= all;
        if (write && value != found) {
            *word ^= (value ^ found) << turn;
            if (value) {
                mark((sc_u32)(at >> 5));
                sc_any = 1;
            }
        }
        return found;
    }
    end = n > SC_MAP_SIZE - at ? SC_MAP_SIZE : at + n;
    value = turn_left(value, turn); /* now bit i is that of every byte i of a word */
    while (at < end) {
        sc_u32 w = (sc_u32)(at >> 5), mask = 0xFFFFFFFFu << (at & 31u);
        at = (at | 31u) + 1u;
        if (at > end) mask &= 0xFFFFFFFFu >> (at - end);
        found |= bits[w] & mask;
        if (!write) continue;
        bits[w] = (bits[w] & ~mask) | (value & mask);
        if (value & mask) {
            mark(w);
            sc_any = 1;
        }
    }
    if (found) sc_touch(p, n);
    return turn_left(found, -turn & 31u);
}

/* The variables that interrupt handlers without probes name: pairs of address and size. The linker gives the section's
 * bounds. */
extern const SC_ROM sc_uptr __start_sc_shared[] __attribute__((weak));
extern const SC_ROM sc_uptr __stop_sc_shared[] __attribute__((weak));

extern sc_asking *const sc_asked __attribute__((weak)); /* lent.c, where that section has something in it */

/* If a symbolic value leaves what we can follow, or comes to where something reads it that we cannot, the host must
 * know. */
void sc_taint_lost(const void *p, sc_size n)
{
    const SC_ROM sc_uptr *listed;
    sc_uptr at = (sc_uptr)p - SC_MAP_BASE;
    if (at >= SC_MAP_SIZE || n > SC_MAP_SIZE - at) sc_note(SC_EVENT_LOST, sc.last_site);
    for (listed = __start_sc_shared; listed != __stop_sc_shared; listed += 2)
        if ((sc_uptr)p - listed[0] < listed[1] || listed[0] - (sc_uptr)p < n) sc_note(SC_EVENT_SHARED, sc.last_site);
    if (&sc_asked && sc_asked(p, n)) sc_note(SC_EVENT_SHARED, sc.last_site);
}

/* As memmove would: what is read was not yet overwritten. */
void sc_taint_copy(const void *dst, const void *src, sc_size n)
{
    sc_size done, part;
    sc_u32 up = (sc_uptr)dst - (sc_uptr)src >= n; /* forward is safe: dst is before src or not in it */
    for (done = 0; done < n; done += part) {
        sc_size i;
        part = n - done < 32u ? n - done : 32u;
        i = up ? done : n - done - part;
        sc_taint((const sc_u8 *)dst + i, part, 1, sc_taint_get((const sc_u8 *)src + i, part));
    }
}

/* The first that is set of a summary's bytes from i on; `end` if there is none. Eight at a time: each opaque call walks
 * over all roots, twice. */
static sc_u32 first(const sc_u8 *summary, sc_u32 i, sc_u32 end)
{
    while (i < end && !summary[i]) {
        const struct { sc_u64 of_eight; } __attribute__((packed)) *several = (const void *)(summary + i);
        i += i + 8u <= end && !several->of_eight ? 8u : 1u;
    }
    return i;
}

/* The first word with taint from w on, or WORDS. Summaries of what is passed and empty are mended. */
static sc_u32 next(sc_u32 w)
{
    while (w < WORDS) {
        if (FAR && !(w & 0x7FFFu)) {
            sc_u32 r = first(roots, w >> 15, roots_end);
            if (r >= roots_end) return WORDS;
            roots[r] = 0;
            w = r << 15;
        }
        if (FAR && !(w & 0x3FFu)) {
            if (!tops[w >> 10]) {
                w += 0x400u;
                continue;
            }
            tops[w >> 10] = 0;
        }
        if (!(w & 31u)) {
#ifdef SC_QUIET_STATE /* where code may be large */
            if (!FAR) w = first(groups, w >> 5, sizeof groups) << 5;
            if (w >= WORDS) return WORDS;
#endif
            if (!groups[w >> 5]) {
                w += 32u;
                continue;
            }
            groups[w >> 5] = 0;
        }
        if (bits[w]) {
            mark(w);
            break;
        }
        w++;
    }
    return w;
}

/* Below a summary at a time: nobody wants to know which words were not 0. */
static void wipe_group(sc_u32 g)
{
    sc_fill_zero(bits + g * 32u, (g + 1u) * 32u <= WORDS ? 32u * sizeof *bits : (WORDS - g * 32u) * sizeof *bits);
    groups[g] = 0;
}

static void wipe_far(void)
{
    sc_u32 r, t, g;
    for (r = first(roots, 0, roots_end); r < roots_end; r = first(roots, r + 1u, roots_end)) {
        roots[r] = 0;
        for (t = r * 32u; t < (r + 1u) * 32u && t < sizeof tops; t++) {
            if (!tops[t]) continue;
            tops[t] = 0;
            for (g = t * 32u; g < (t + 1u) * 32u && g < sizeof groups; g++)
                if (groups[g]) wipe_group(g);
        }
    }
    roots_end = 0;
}

void sc_taint_reset(void)
{
    sc_u32 w;
    if (!sc_any) return;
    if (FAR) wipe_far();
    else
        for (w = next(0); w < WORDS; w = next(w + 1u)) bits[w] = 0;
    sc_any = 0;
}

#ifdef SC_SNAPSHOTS
/* Whole groups: which of their words are 0 nobody wants to know. */
void sc_taint_keep(void)
{
    sc_u32 r, t, g;
    sc_keep(&sc_any, sizeof sc_any);
    if (!sc_any) return;
    sc_keep(&roots_end, sizeof roots_end);
    for (r = first(roots, 0, roots_end); r < roots_end; r = first(roots, r + 1u, roots_end)) {
        sc_keep(roots + r, 1);
        sc_keep(tops + r * 32u, 32);
        for (t = r * 32u; t < (r + 1u) * 32u; t++) {
            if (!tops[t]) continue;
            sc_keep(groups + t * 32u, 32);
            for (g = t * 32u; g < (t + 1u) * 32u; g++)
                if (groups[g]) sc_keep(bits + g * 32u, 32u * sizeof *bits);
        }
    }
}
#endif

/* The stack below `end`: frames of activations that have ended. What code without probes makes of that memory has
 * nothing to do with what lay there. */
void sc_taint_forget_dead(const void *end)
{
#if SC_RAM_SIZE < 0x1000 /* there flash is for other things: a campaign may be drained that lost nothing */
    (void)end;
#else
    sc_uptr base = SC_STACK_BASE - SC_MAP_BASE, at = (sc_uptr)end - SC_MAP_BASE;
    sc_u32 w;
    if (!sc_any || base >= SC_MAP_SIZE) return;
    if (at - base > SC_STACK_TOP - SC_STACK_BASE) return; /* on a stack of the program's own making */
    if (at > SC_MAP_SIZE) at = SC_MAP_SIZE;
    for (w = next((sc_u32)(base >> 5)); w < at >> 5; w = next(w + 1u)) bits[w] = 0;
    sc_taint_clear((const sc_u8 *)end - (at & 31u), at & 31u);
#endif
}

static const sc_u8 *ram(sc_u32 w)
{
    return (const sc_u8 *)(SC_MAP_BASE + (sc_uptr)w * 32u);
}

static sc_u32 checksum(sc_u32 crc, sc_u32 w)
{
    sc_u32 i;
    for (i = 0; i < 32; i++)
        if (bits[w] >> i & 1u) crc = sc_crc32(crc, ram(w) + i, 1);
    return crc;
}

static void take(void)
{
    sc_u32 w, k = 0;
    shadow.rest = 0;
    for (w = next(0); w < WORDS; w = next(w + 1u), k++) {
        if (k < SC_SHADOW) sc_copy_bytes(shadow.copy[k], ram(w), 32);
        else shadow.rest = checksum(shadow.rest, w);
        if (FAR && k < SC_SHADOW) met.at[k] = w;
    }
    if (FAR) met.count = k;
    sc_any = k || sc_strays;
}

/* Untaint what was changed, and say so: one event a run of bytes. */
static void report(sc_u32 w, sc_u32 changed)
{
    sc_u32 i = 0, n;
    changed &= bits[w];
    bits[w] &= ~changed;
    for (; changed; changed >>= 1, i++) {
        for (n = 0; changed & 1u; n++) changed >>= 1;
        if (!n) continue;
        sc_note(SC_EVENT_UNTAINT, sc.opaque);
        sc_address(ram(w) + i);
        sc_varint(n);
        i += n;
    }
}

/* What did opaque code change of the k-th word with taint? */
static void review(sc_u32 w, sc_u32 k)
{
    sc_u32 i, changed = 0;
    for (i = 0; i < 32; i++)
        if (ram(w)[i] != shadow.copy[k][i]) changed |= SC_BIT(i);
    report(w, changed);
}

/* And of all that `take` saw? Beyond the shadow's capacity: all of it or nothing.
 * Taint does not change in opaque code: the same words are met in the same order. */
static void compare(void)
{
    sc_u32 w, k, rest = 0, beyond = WORDS;
    if (FAR && met.count <= SC_SHADOW) {
        for (k = 0; k < met.count; k++) review(met.at[k], k);
        return;
    }
    for (w = next(0), k = 0; w < WORDS; w = next(w + 1u), k++) {
        if (k < SC_SHADOW) {
            review(w, k);
        } else {
            rest = checksum(rest, w);
            if (k == SC_SHADOW) beyond = w;
        }
    }
    if (rest == shadow.rest) return;
    for (w = beyond; w < WORDS; w = next(w + 1u)) report(w, 0xFFFFFFFFu);
}

/* Before opaque code runs: take the shadow; after it: compare. */
void sc_shadow(sc_u32 before)
{
    if (!sc_any) {
        shadow.rest = 0;
        if (FAR) met.count = 0;
    } else if (before) take();
    else compare();
}
