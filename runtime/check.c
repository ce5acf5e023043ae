/* Checks: conditions whose other side is a bug, or that there is nothing to check (`memcpy` of no bytes). They are
 * flipped as others are, but in no coverage, and in the path hash only if they do not hold: where the test ends is then
 * part of its path. */
#include "state.h"

void sc_fail(sc_frame *f, sc_uint at)
{
    const SC_ROM sc_d *d = DESCRIPTOR(f, at);
    sc.last_site = SITE(f, d);
    sc_mix(&sc.path, sc.last_site << 1);
    sc_end(d[1], 0);
}

void sc_asks(sc_frame *f, sc_uint at, sc_uint holds, const sc_uptr *words)
{
    const SC_ROM sc_d *d = sc_begin(f, at);
    if (!d) sc_watch(f, at, 2, words);
    else if (sc_speak(f, d + 2, words, SC_CONDITION | holds, 0, 0)) sc_condition(sc.last_site << 1 | holds);
    sc.sent = 0;
}

void sc_check(sc_frame *f, sc_uint at, sc_uint holds, const sc_uptr *words)
{
    sc_asks(f, at, holds, words);
    if (!holds) sc_fail(f, at);
}

void sc_check1(sc_frame *f, sc_uint at, sc_uint holds, sc_uptr a)
{
    sc_check(f, at, holds, &a);
}
