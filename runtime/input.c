/* Inputs: the program asks for bytes, gets the next ones of the test's input, and from then on they are symbolic. */
#include "snapshot.h"

/* The program asks for n bytes of input. What it does without them nobody wants to know: it will run again with
 * them. */
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
    sc_snapshots_declare(0, sc.input_used, BYTES(d[1]));
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
    sc_u32 offset;
    if (!d) sc.seen = SITE(f, DESCRIPTOR(f, at));
    if (!d || !n) return;
    ask(n);
#if SC_INPUTS_KNOWN
    declare_at(p);
#endif
    offset = sc.input_used;
    take_input((sc_u8 *)p, n);
    sc_event(0);
    if (KIND(d[1]) == MEMORY) sc_address(p);
    if (d[2]) sc_varint(n);
    sc.sent = 0;
    sc_taint_lost(p, n);
    sc_taint_set(p, n);
    sc_snapshots_declare(p, offset, n); /* not before: what lay there may have been of another input */
}
