/* Calls: how taint goes into and out of functions, and what becomes of it in code without probes.
 *
 * sc_call announces a call; the sc_enter that follows binds the parameters only if it is the function called.
 * A function entered otherwise is a callback from opaque code: its parameters are concrete, what the opaque code
 * changed until now is found by the shadow, and opaque mode comes back when it leaves. Activations know their depth
 * from their own mask array, so that longjmp needs no care. */
#include <stdarg.h>

#include "state.h"

/* How far beyond a pointer argument opaque code is taken to look: objects have no known size here. */
#define REACH 1024u

void sc_call(sc_frame *f, sc_uint at, const void *callee)
{
    const SC_ROM sc_d *d = DESCRIPTOR(f, at);
    sc_u32 *m = MASKS(f);
    sc_u32 i, n = d[1] < SC_MAX_ARGUMENTS ? d[1] : SC_MAX_ARGUMENTS;
    if (SC_IN_INTERRUPT()) return;
    sc_at_site(f, d);
    sc.call = SITE(f, d);
    sc.callee = callee;
    sc.returned = 0;
    sc.call_depth = sc.depth;
    sc.call_taint = 0;
    sc.structs = 0;
    for (i = 0; i < n; i++) {
        sc_u32 word = d[2 + i];
        if (KIND(word) == SLOT && sc_slot_taint(m, INDEX(word))) sc.call_taint |= (sc_u64)1 << i;
    }
}

void sc_struct_arg(sc_uint i, const void *p)
{
    if (SC_IN_INTERRUPT() || i >= SC_MAX_STRUCTS) return;
    while (sc.structs <= i) sc.struct_args[sc.structs++] = 0;
    sc.struct_args[i] = p;
}

/* The expected callee: take the argument taint over. */
static void bind(sc_frame *f)
{
    sc_u32 *m = MASKS(f);
    sc_u32 i, n = f->table[3] < SC_MAX_ARGUMENTS ? f->table[3] : SC_MAX_ARGUMENTS;
    sc_u64 taint = sc.call_taint & (((sc_u64)1 << n) - 1u);
    m[0] = sc.call_depth + 1u;
    if (taint) {
        sc_event(sc.call, sc.call_depth, 0);
        sc_varint(taint);
        for (i = 0; i < n; i++) sc_set_slot(m, i + 1u, (sc_u32)(taint >> i) & 1u);
    }
    sc.opaque = 0; /* the indirect call was none after all */
    sc.struct_args_bound = sc.structs;
}

/* Forget callbacks that longjmp left: those not below `depth`. */
static void drop_nested(sc_u32 depth)
{
    while (sc.nested && sc.nested_depth[sc.nested - 1u] >= depth) sc.nested--;
}

static void enter_callback(sc_u32 *m)
{
    sc_u32 depth = sc.depth + 1u;
    m[0] = depth | CALLBACK;
    if (sc.opaque) sc_shadow_compare(sc.opaque_site);
    drop_nested(depth);
    if (sc.nested < SC_NESTING) {
        sc.nested_depth[sc.nested] = depth;
        sc.nested_site[sc.nested++] = sc.opaque ? sc.opaque_site : 0;
    }
    sc.opaque = 0;
    sc.struct_args_bound = 0;
}

void sc_enter(sc_frame *f, const SC_ROM sc_d *table, const void *self)
{
    sc_u32 *m = MASKS(f);
    sc_u32 w, site = table[0] | (sc_u32)table[1] << 16;
    f->table = table; /* in interrupts, too: probes that compare need it */
    f->self = self;
    for (w = 1; w <= table[2]; w++) m[w] = 0;
    m[0] = CALLBACK;
    if (SC_IN_INTERRUPT()) return;
    sc.sent = 0;
    if (sc.call && sc.callee == self) bind(f);
    else enter_callback(m);
    sc.call = 0;
    sc.callee = 0;
    sc.structs = 0;
    sc.depth = m[0] & ~CALLBACK;
    sc.last_site = site;
    sc.stack[sc.depth % SC_STACK_SITES] = site;
    sc.stack_depth[sc.depth % SC_STACK_SITES] = sc.depth;
    sc_mix(&sc.path, site << 1);
    if (++sc.branches > sc.max_branches) sc_end(SC_VERDICT_HANG, 0);
}

void sc_leave(sc_frame *f)
{
    sc_u32 *m = MASKS(f);
    sc_u32 depth = m[0] & ~CALLBACK;
    if (SC_IN_INTERRUPT()) return;
    sc.sent = 0;
    sc.result_taint = f->table[2] && (m[1] & 1u);
    sc.returned = f->self;
    sc.call = 0;
    if (m[0] & CALLBACK) {
        sc.returned = 0;
        if (sc.result_taint && depth > 1) { /* depth 1 returns to the runtime: nobody looks at it */
            sc_head(4, 0);
            sc_varint(f->table[0] | (sc_u32)f->table[1] << 16);
        }
        drop_nested(depth + 1u);
        if (sc.nested && sc.nested_depth[sc.nested - 1u] == depth && sc.nested_site[--sc.nested]) {
            sc.opaque_site = sc.nested_site[sc.nested];
            sc.opaque = 1;
            sc_shadow_take();
        }
    }
    sc.depth = depth - 1u;
}

sc_uint sc_returned(const void *callee)
{
    return !SC_IN_INTERRUPT() && sc.returned && sc.returned == callee;
}

void sc_result(sc_frame *f, sc_uint at, const void *callee)
{
    const SC_ROM sc_d *d = DESCRIPTOR(f, at);
    sc_u32 *m = MASKS(f);
    sc_u32 tainted = sc_returned(callee) && sc.result_taint;
    if (SC_IN_INTERRUPT()) return;
    sc_at_site(f, d);
    if (tainted) {
        sc_event(SITE(f, d), sc.depth, 0);
        sc.value_bytes = BYTES(d[1]);
    }
    if (KIND(d[1]) == SLOT) sc_set_slot(m, INDEX(d[1]), tainted);
}

void sc_struct_param(sc_frame *f, sc_uint at, sc_uint i, void *p, sc_size n)
{
    if (SC_IN_INTERRUPT()) return;
    if (i < sc.struct_args_bound && sc.struct_args[i]) sc_copy(f, at, p, sc.struct_args[i], n);
    else sc_taint_clear(p, n);
}

void sc_struct_ret(const void *p)
{
    if (!SC_IN_INTERRUPT()) sc.struct_ret = p;
}

void sc_struct_result(sc_frame *f, sc_uint at, const void *callee, void *p, sc_size n)
{
    if (SC_IN_INTERRUPT()) return;
    if (sc_returned(callee)) sc_copy(f, at, p, sc.struct_ret, n);
    else sc_taint_clear(p, n);
}

sc_uint sc_opaque(sc_frame *f, sc_uint at, ...)
{
    const SC_ROM sc_d *d = DESCRIPTOR(f, at);
    sc_u32 *m = MASKS(f);
    va_list tail;
    sc_u32 i, seen = 0;
    if (SC_IN_INTERRUPT()) return 0;
    sc_at_site(f, d);
    sc.call = 0;
    sc.returned = 0;
    va_start(tail, at);
    for (i = 0; i < d[3]; i++) {
        sc_u32 word = d[4 + i];
        if (KIND(word) == SLOT) {
            seen |= sc_slot_taint(m, INDEX(word));
        } else if (KIND(word) == MEMORY) {
            const void *p = va_arg(tail, const void *);
            seen |= sc_slot_taint(m, INDEX(word)) | sc_taint_any(p, REACH);
        }
    }
    va_end(tail);
    sc.opaque = !(d[1] & 1u);
    if (sc.opaque) {
        sc.opaque_site = SITE(f, d);
        sc_shadow_take();
    }
    return seen;
}

void sc_opaque_end(sc_frame *f, sc_uint at, sc_uint seen, sc_u64 value)
{
    const SC_ROM sc_d *d = DESCRIPTOR(f, at);
    sc_u32 *m = MASKS(f);
    sc_u32 dest = d[2];
    if (SC_IN_INTERRUPT()) return;
    sc_at_site(f, d);
    sc.call = 0;
    if (seen && !(d[1] & 1u)) {
        sc_head(3, 0);
        sc_varint(SITE(f, d));
    }
    if (sc.opaque) sc_shadow_compare(SITE(f, d));
    sc.opaque = 0;
    if (KIND(dest) != SLOT) return;
    sc_set_slot(m, INDEX(dest), seen);
    if (seen) { /* the slot stays tainted: the host remembers that this constant came from symbolic data */
        sc_u32 shift = 64u - 8u * BYTES(dest);
        sc_event(SITE(f, d), sc.depth, 0);
        sc_signed((sc_i64)(value << shift) >> shift);
        sc.sent = 0;
    }
}
