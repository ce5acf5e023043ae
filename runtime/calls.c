/* Calls: how taint goes into and out of functions, and what becomes of it in code without probes.
 *
 * sc_call announces a call; the sc_enter that follows binds the parameters only if it is the function called, and
 * looks at the caller's activation for the arguments' taint. A function entered otherwise is a callback from opaque
 * code: its parameters are concrete, what the opaque code changed until now is found by the shadow, and opaque mode
 * comes back when it leaves: its activation keeps the opaque call's site in the place of `self` (sites have
 * descriptors in flash: where pointers are narrow, so are the numbers of sites). Activations know their depth, so that
 * longjmp needs no care. */
#include <stdarg.h>

#include "snapshot.h"

static sc_u32 handlers_call SC_RUNTIME_DATA; /* the last that a handler made */

void sc_call(sc_frame *f, sc_uint at, const void *callee)
{
    const SC_ROM sc_d *d = sc_begin(f, at);
    if (!d) {
        handlers_call = SITE(f, DESCRIPTOR(f, at));
        return;
    }
    sc.call = d;
    sc.caller = f;
    sc.callee = callee;
    sc.returned = 0;
    sc.structs = 0;
}

/* A handler passes a struct of a size that is not known here. */
static void watch_struct(const void *p)
{
    if (sc_taint_get(p, SC_REACH)) sc.seen = handlers_call;
}

void sc_struct_arg(sc_uint i, const void *p)
{
    if (SC_IN_INTERRUPT()) watch_struct(p);
    if (SC_IN_INTERRUPT() || i >= SC_MAX_STRUCTS) return;
    while (sc.structs <= i) sc.struct_args[sc.structs++] = 0;
    sc.struct_args[i] = p;
}

/* The expected callee: take the arguments' taint over. No probe came after sc_call: the event is the call's. */
static void bind(sc_frame *f)
{
    const SC_ROM sc_d *d = sc.call;
    sc_uint i = d[1] < f->table[3] ? d[1] : f->table[3];
    sc_u64 taint = 0;
    if (i > SC_MAX_ARGUMENTS) i = SC_MAX_ARGUMENTS;
    while (i) {
        sc_d word = d[1u + i];
        sc_uint tainted = KIND(word) != NONE && sc_slot_taint(MASKS(sc.caller), INDEX(word));
        sc_set_slot(MASKS(f), i, tainted);
        taint = taint << 1 | tainted;
        i--;
    }
    if (taint) {
        sc_event(0);
        sc_varint(taint);
    }
    sc_followed(); /* the indirect call was no opaque one after all */
    sc.struct_args_bound = sc.structs;
}

/* Code without probes may never come back (exit, a trap, a hang, longjmp): then, too, it is said what it was given. */
static void tell_given(void)
{
    if (sc.given) sc_note(sc.given, sc.given_at);
    sc.given = 0;
}

static void enter_callback(sc_frame *f)
{
    MASKS(f)[0] = SC_CALLBACK;
    sc.call = 0;
    f->self = (const void *)(sc_uptr)sc.opaque;
    tell_given(); /* what it was given may decide that it calls back */
    if (sc.opaque) sc.shadow(0);
    sc.opaque = 0;
    sc.struct_args_bound = 0;
}

void sc_enter(sc_frame *f, const SC_ROM sc_d *table, const void *self)
{
    sc_u32 w, called;
    f->table = table; /* in interrupts, too: probes that compare need it */
    f->self = self;
    for (w = 0; w <= table[2]; w++) MASKS(f)[w] = 0;
    if (SC_IN_INTERRUPT()) return;
    called = sc.callee == self;
    if (called) bind(f);
    else enter_callback(f);
    sc.sent = 0;
    sc.callee = 0;
    sc.structs = 0;
    sc.depth++;
    if (sc.depth < sc.entered) sc.entered = sc.depth;
#ifdef SC_SNAPSHOTS
    if (sc.depth < sc.began) sc.began = sc.depth;
#endif
#ifdef SC_QUIET_STATE
    if (sc.depth <= sc.recent) sc_forget_recent();
#endif
    MASKS(f)[0] |= sc.depth;
    sc.last_site = table[0] | (sc_u32)table[1] << 16;
    sc.stack[sc.depth % SC_STACK_SITES] = called && table[4] & SC_MODEL_TABLE ? SITE(sc.caller, sc.call) : sc.last_site;
    sc_tell();
    sc.stack_depth[sc.depth % SC_STACK_SITES] = (sc_d)sc.depth;
    sc_mix(&sc.path, sc.last_site << 1);
#ifdef SC_STACK_LIMIT /* where no memory protection finds it */
    if ((sc_uptr)f < SC_STACK_LIMIT) sc_end(SC_VERDICT_STACK_OVERFLOW, 0);
#endif
    sc_step();
}

void sc_leave(sc_frame *f)
{
    sc_u32 found;
    if (SC_IN_INTERRUPT()) return;
    sc.sent = 0;
    sc.callee = 0;
    sc.depth = sc_depth(f) - 1u;
    sc.result_taint = f->table[2] && (MASKS(f)[1] & 1u);
    sc.returned = f->self;
    if (MASKS(f)[0] & SC_CALLBACK) {
        sc.returned = 0;
        /* also to a main without probes */
        if (sc.result_taint || (sc.struct_ret && sc_taint_get(sc.struct_ret, SC_REACH)))
            sc_note(SC_EVENT_CALLBACK_RETURN, f->table[0] | (sc_u32)f->table[1] << 16);
        sc.opaque = (sc_u32)(sc_uptr)f->self;
        sc.struct_ret = 0;
        found = sc.opaque ? sc.opaque : f->table[0] | (sc_u32)f->table[1] << 16; /* none: main has no probes */
        /* opaque code goes on, and sees what the callback did */
        if (sc.reach && sc.reach()) sc_note(SC_EVENT_FOUND, found);
        if (!sc.opaque) return;
        sc.shadow(1);
    }
}

sc_uint sc_returned(const void *callee)
{
    return !SC_IN_INTERRUPT() && sc.returned && sc.returned == callee;
}

void sc_result(sc_frame *f, sc_uint at, const void *callee)
{
    sc_u32 tainted = sc_returned(callee) && sc.result_taint;
    const SC_ROM sc_d *d = sc_begin(f, at);
    if (!d) return;
    if (tainted) {
        sc_event(0);
        VALUE_BYTES(d[1]);
    }
    if (KIND(d[1]) == SLOT) sc_set_slot(MASKS(f), INDEX(d[1]), tainted);
}

/* A struct came by value from `from`, if that is known. */
static void take_struct(sc_frame *f, sc_uint at, void *p, const void *from, sc_size n)
{
    if (from && !SC_IN_INTERRUPT()) sc_copy(f, at, p, from, n);
    else sc_clear(p, n);
}

void sc_struct_param(sc_frame *f, sc_uint at, sc_uint i, void *p, sc_size n)
{
    take_struct(f, at, p, i < sc.struct_args_bound ? sc.struct_args[i] : 0, n);
}

void sc_struct_ret(const void *p)
{
    if (SC_IN_INTERRUPT()) watch_struct(p);
    else sc.struct_ret = p;
}

void sc_struct_result(sc_frame *f, sc_uint at, const void *callee, void *p, sc_size n)
{
    take_struct(f, at, p, sc_returned(callee) ? sc.struct_ret : 0, n);
    sc.struct_ret = 0;
}

/* What opaque code sees: 1, symbolic data in memory or an argument of which the host knows nothing; 2, what it finds by
 * itself; */
enum { NUMBERS = 4 }; /* arguments that the host was told: it may know all their values */

sc_uint sc_opaque(sc_frame *f, sc_uint at, ...)
{
    const SC_ROM sc_d *d = DESCRIPTOR(f, at);
    va_list tail;
    sc_uint i, seen = 0;
    va_start(tail, at);
    for (i = 0; i < d[3]; i++) {
        sc_d word = d[4 + i];
        if (KIND(word) == NONE) continue;
        if (sc_slot_taint(MASKS(f), INDEX(word))) seen |= d[1] & (SC_OPAQUE_TOLD | SC_OPAQUE_TOLD_AFTER) ? NUMBERS : 1u;
        if (KIND(word) == MEMORY && sc_taint_get(va_arg(tail, const void *), SC_REACH)) seen |= 1u;
    }
    va_end(tail);
    if ((d[1] & SC_OPAQUE_OF_THE_PROJECT && sc.reach && sc.reach()) || (d[1] & SC_OPAQUE_GIVES_BACK && sc.told))
        seen |= 2u;
    if (!sc_begin(f, at)) {
        if (seen) sc.seen = SITE(f, d);
        return 0;
    }
    tell_given(); /* of a call that a longjmp has left */
    sc.callee = 0;
    sc.returned = 0;
    sc.opaque = 0;
    if (seen && d[1] & SC_OPAQUE_OUTPUT) sc.told = 1;
    else if (seen == 2u) sc.given = SC_EVENT_FOUND;
    else if (seen == NUMBERS && d[1] & SC_OPAQUE_TOLD) sc.given = SC_EVENT_OPAQUE_NUMBERS;
    else if (seen) sc.given = SC_EVENT_OPAQUE_ARGUMENTS;
    sc.given_at = sc.last_site;
    if (seen || !(d[1] & SC_OPAQUE_HARMLESS)) sc_snapshots_end();
    if (!(d[1] & SC_OPAQUE_HARMLESS)) {
        sc_taint_forget_dead(__builtin_dwarf_cfa());
        sc.opaque = sc.last_site;
        sc.shadow = sc_shadow;
        sc_shadow(1);
    }
    return seen;
}

sc_uint sc_called_back(void)
{
    return !sc.given;
}

void sc_opaque_end(sc_frame *f, sc_uint at, sc_uint seen, sc_u64 value)
{
    const SC_ROM sc_d *d = sc_begin(f, at);
    sc_uint told;
    sc_d dest;
    if (!d) return;
    sc.callee = 0;
    told = seen == NUMBERS && (d[1] & SC_OPAQUE_TOLD || !sc_called_back());
    if (told && sc.given) sc.given = SC_EVENT_OPAQUE_NUMBERS;
    tell_given();
    if (sc.opaque) sc_shadow(0);
    sc.opaque = 0;
    dest = d[2];
    if (KIND(dest) != SLOT) return;
    sc_set_slot(MASKS(f), INDEX(dest), seen != 0);
    if (seen) { /* the slot stays tainted: the host remembers that this constant came from symbolic data */
        sc_event(told);
        sc_send_value(&value, BYTES(dest));
        sc.sent = 0;
    }
}
