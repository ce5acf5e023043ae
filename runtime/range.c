/* Conversions of floating-point numbers to integers: whether they are defined is a condition that is flipped as others
 * are, but is in neither path hash nor coverage. */
#include "state.h"

sc_uint sc_range(sc_frame *f, sc_uint at, sc_uint holds, const sc_uptr *words)
{
    const SC_ROM sc_d *d = sc_begin(f, at);
    if (!d) {
        sc_watch(f, at, 1, words);
        return 0;
    }
    if (sc_speak(f, d + 1, words, SC_CONDITION | holds, 0, 0)) sc_condition(sc.last_site << 1 | holds);
    sc.sent = 0;
    return holds;
}

sc_uint sc_range1(sc_frame *f, sc_uint at, sc_uint holds, sc_uptr a)
{
    return sc_range(f, at, holds, &a);
}
