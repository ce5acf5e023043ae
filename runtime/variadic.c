/* Arguments of `...`: their taint, which came in slots behind the parameters', goes to where va_arg will read them.
 *
 * A va_list that is copied, kept or passed on then needs no care: what it leads to is memory like any other. The walk
 * is C's own, over the sizes in the call's descriptor; where it meets what has no size there (a struct, a long double)
 * it ends, and the caller has reported what came after. */
#include <stdarg.h>

#include "state.h"

/* A leaf without taint has a size, or in the place of its slot what it is; a double that may be symbolic is of another
 * kind than integers are. */
#define DOUBLE GLOBAL

const SC_ROM sc_d *sc_arguments(void)
{
    return SC_IN_INTERRUPT() ? 0 : sc.call;
}

/* Passes over an argument of that many bytes and returns where it lies. */
#define NEXT(rest, bytes, at)                          \
    do {                                               \
        if ((bytes) == sizeof(int)) {                  \
            at = SC_VA_AT(rest, int);                  \
            (void)va_arg(rest, int);                   \
        } else if ((bytes) == sizeof(long)) {          \
            at = SC_VA_AT(rest, long);                 \
            (void)va_arg(rest, long);                  \
        } else {                                       \
            at = SC_VA_AT(rest, long long);            \
            (void)va_arg(rest, long long);             \
        }                                              \
    } while (0)

void sc_variadic(sc_frame *f, sc_uint at, const SC_ROM sc_d *call, va_list list)
{
    const SC_ROM sc_d *d = sc_begin(f, at);
    va_list rest;
    sc_u32 i, n;
    if (!d || !call) return; /* called by code without probes: what it passed is not symbolic */
    n = call[1] < f->table[3] ? call[1] : f->table[3];
    va_copy(rest, list);
    for (i = d[1]; i < n; i++) {
        sc_u32 word = call[2 + i], tainted;
        const void *p;
        if (KIND(word) == DOUBLE || (KIND(word) == NONE && INDEX(word) == SC_ARGUMENT_DOUBLE)) {
            p = SC_VA_DOUBLE(rest);
            (void)va_arg(rest, double);
        } else if (KIND(word) == NONE && INDEX(word)) {
            break;
        } else {
            NEXT(rest, BYTES(word), p);
        }
        tainted = sc_slot_taint(MASKS(f), i + 1);
        if (tainted) {
            sc_taint_lost(p, BYTES(word));
            sc_event(0);
            sc_varint(i + 1);
            sc_address(p);
            sc.sent = 0;
        }
        sc_taint(p, BYTES(word), 1, 0u - tainted);
    }
    va_end(rest);
}
