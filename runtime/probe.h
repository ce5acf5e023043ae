/* The probe interface: what instrumented C files include, and the only header they need.
 *
 * The front-end emits calls of these functions; a hand-written file can do the same. Worked example: for
 *
 *     int f(int a) { if (a > g) g = a + 1; return a; }        (g is a global int)
 *
 * it emits, with slot 0 the result and slot 1 the parameter (docs/design/probes.md specifies the words):
 *
 *     static const SC_ROM sc_d T[] = {
 *         16, 0, 1, 1, 0,                           enter: site 16, one mask word, one parameter
 *         1, 0, 0, 2, SC_SLOT(2, 1), SC_GLOBAL(2),  at 5: cond: site 16 + 1, coverage 0, two leaves
 *         2, SC_GLOBAL(2), 1, SC_SLOT(2, 1),        at 11: assign: site 18, dest g, one leaf
 *         3, SC_SLOT(2, 0), 1, SC_SLOT(2, 1)};      at 15: assign: site 19, dest slot 0 (the result)
 *     int f(int a) {
 *         SC_ACTIVATION(1) sc_a; int r;
 *         sc_enter(&sc_a.head, T, (const void *)f);
 *         if (sc_cond2(&sc_a.head, 5, a > g, (sc_uptr)a, (sc_uptr)&g)) {
 *             int t = a;
 *             g = t + 1;
 *             sc_assign2(&sc_a.head, 11, (sc_uptr)&g, (sc_uptr)t);
 *         }
 *         r = a;
 *         if (sc_a.m[1] & 3) sc_assign1(&sc_a.head, 15, (sc_uptr)a);
 *         sc_leave(&sc_a.head);
 *         return r;
 *     }
 *
 * C99, no header of others: it must not disturb what the user's file includes. */
#ifndef SC_PROBE_H
#define SC_PROBE_H

#include "contract.h"

typedef unsigned char sc_u8;
typedef unsigned short sc_d;
typedef unsigned int sc_uint; /* small numbers: as wide as costs least, 16 bits at least */
typedef __UINT32_TYPE__ sc_u32;
typedef __INT32_TYPE__ sc_i32;
typedef __UINT64_TYPE__ sc_u64;
typedef __INT64_TYPE__ sc_i64;
typedef __SIZE_TYPE__ sc_size;
typedef __UINTPTR_TYPE__ sc_uptr;
typedef __INTPTR_TYPE__ sc_iptr;

/* An activation: what sc_enter fills in, and then its depth and a taint bit for each slot: SC_ACTIVATION(words) a; */
/* Where descriptors lie: on an AVR constants are data in RAM unless one says otherwise. */
#ifdef __AVR__
#define SC_ROM __flash
#else
#define SC_ROM
#endif

typedef struct {
    const SC_ROM sc_d *table; /* the function's descriptors */
    const void *self;
} sc_frame;
#define SC_ACTIVATION(words) struct { sc_frame head; sc_u32 m[1 + (words)]; }
#define SC_CALLBACK 0x80000000u /* in m[0], beside the depth: it was entered from opaque code */
#define SC_DEPTH(f) (*(const sc_u32 *)((f) + 1) & ~SC_CALLBACK)

/* First in an interrupt handler: it has no probes, but what it calls may have some, which stay silent. Where no
 * register tells that a handler runs, they are counted. */
#if defined __AVR__ || defined __riscv
#define SC_COUNT_HANDLERS
extern volatile sc_u8 sc_handlers;
static inline __attribute__((always_inline, unused)) void sc_handler_ends(sc_u8 *number)
{
    sc_handlers = *number - 1u;
}
#define SC_HANDLER sc_u8 sc_handler __attribute__((cleanup(sc_handler_ends))) = ++sc_handlers
#else
#define SC_HANDLER ((void)0)
#endif

/* Leaf words: kind, log2 of the size in bytes, slot. */
#define SC_LEAF(kind, log2size, slot) ((sc_d)((sc_u32)(kind) << 14 | (log2size) << 12 | (slot)))
#define SC_SLOT(log2size, slot) SC_LEAF(SC_LEAF_SLOT, log2size, slot)
#define SC_MEMORY(log2size) SC_LEAF(SC_LEAF_MEMORY, log2size, 0)
#define SC_GLOBAL(log2size) SC_LEAF(SC_LEAF_GLOBAL, log2size, 0)
#define SC_NONE SC_LEAF(SC_LEAF_NONE, 0, 0)
#define SC_POINTER(slot) SC_LEAF(SC_LEAF_MEMORY, 0, slot) /* sc_opaque: a pointer argument held in a slot */

/* Where the next argument of `...` lies, of a type that is passed as integers are, and the next double; and, of an ABI
 * that passes the first ones in registers, where those on the stack do. */
#ifdef __x86_64__
#define SC_VA_DOUBLE(list) \
    ((list)->fp_offset < 176u ? (const char *)(list)->reg_save_area + (list)->fp_offset : SC_VA_STACK(list))
#define SC_VA_STACK(list) ((const char *)(list)->overflow_arg_area)
#define SC_VA_AT(list, type) \
    ((list)->gp_offset < 48u ? (const char *)(list)->reg_save_area + (list)->gp_offset : SC_VA_STACK(list))
#elif defined(__aarch64__)
#define SC_VA_DOUBLE(list) \
    ((list).__vr_offs < 0 ? (const char *)(list).__vr_top + (list).__vr_offs : SC_VA_STACK(list))
#define SC_VA_STACK(list) ((const char *)(list).__stack)
#define SC_VA_AT(list, type) \
    ((list).__gr_offs < 0 ? (const char *)(list).__gr_top + (list).__gr_offs : SC_VA_STACK(list))
#else
#define SC_VA_DOUBLE(list) SC_VA_AT(list, double)
#define SC_VA_STACK(list) SC_VA_AT(list, int)
#define SC_VA_AT(list, type)                                                                      \
    __extension__({                                                                               \
        __builtin_va_list sc_list;                                                                \
        __builtin_va_copy(sc_list, list);                                                         \
        (void)__builtin_va_arg(sc_list, type);                                                    \
        *(const char **)&sc_list - (sizeof(type) + sizeof(void *) - 1u) / sizeof(void *) * sizeof(void *); \
    })
#endif

/* Floating-point numbers as their patterns, and back. */
#define sc_bits32(x) (((union { float number; sc_u32 pattern; }){(x)}).pattern)
#define sc_bits64(x) (((union { double number; sc_u64 pattern; }){(x)}).pattern)
#define sc_float32(x) (((union { sc_u32 pattern; float number; }){(sc_u32)(x)}).number)
#define sc_float64(x) (((union { sc_u64 pattern; double number; }){(x)}).number)

/* Objects that keep their value from test to test: the restore leaves this section alone. They start as zero. */
/* gcc leaves the zeros out of an object only if the section is called so: here there are 200 MiB of them */
#ifdef __linux__
#define SC_RUNTIME_DATA __attribute__((section(".bss.sc_data")))
#define SC_RUNTIME_DATA_AT(end) __attribute__((section(".bss.sc_data_" end)))
#else /* a firmware's own linker script would take that for its .bss */
#define SC_RUNTIME_DATA __attribute__((section(".sc_data")))
#define SC_RUNTIME_DATA_AT(end) __attribute__((section(".sc_data_" end))) /* "first": before all other, or "last" */
#endif

/* Once in an image, in a generated file: its identity and its coverage maps. The variable part is the 16 bytes. */
#define SC_IMAGE(total, ...)                                                          \
    const unsigned char sc_build_id[16] = {__VA_ARGS__};                              \
    const sc_u32 sc_coverage_total = (total);                                         \
    SC_RUNTIME_DATA sc_u8 sc_coverage_run[((total) + 7) / 8 + 1];                     \
    SC_RUNTIME_DATA sc_u8 sc_coverage_acked[((total) + 7) / 8 + 1]

extern const unsigned char sc_build_id[16];
extern const sc_u32 sc_coverage_total;
extern sc_u8 sc_coverage_run[];   /* directions seen since the host last acknowledged */
extern sc_u8 sc_coverage_acked[]; /* directions the host knows */

/* What a pointer may lead to at a symbolic address: variables of static storage are listed, those on the stack are told
 * when they are declared. Only where a program reads or writes so (SC_OBJECTS). The list is in ROM, also on an AVR,
 * where gcc gives variables in `__flash` a section of its own. */
typedef struct {
    const void *at;
    sc_size size; /* bytes */
} sc_extent;
#define SC_ONE_OF_MANY ((sc_size)1 << (8u * sizeof(sc_size) - 2u))
/* until the build sorts the list: it has no symbol with its size */
#define SC_NAMELESS ((sc_size)1 << (8u * sizeof(sc_size) - 1u))
#ifdef SC_OBJECTS
#define SC_STATIC(n, object)                                                             \
    static const sc_extent sc_extent##n __attribute__((section("sc_extents"), used)) = { \
        (const void *)&(object), sizeof(object)}
/* One that stands for as many as a caller might have: where it ends says nothing. */
#define SC_STATIC_ONE(n, object)                                                         \
    static const sc_extent sc_extent##n __attribute__((section("sc_extents"), used)) = { \
        (const void *)&(object), sizeof(object) | SC_ONE_OF_MANY}
/* A string literal: a compiler makes one object of all in a file that are the same, so this is the one that the program
 * means. */
#define SC_TEXT(n, literal)                                                              \
    static const sc_extent sc_extent##n __attribute__((section("sc_extents"), used)) = { \
        (const void *)(literal), sizeof(literal) | SC_NAMELESS}
#define SC_LOCAL(object) sc_local((const void *)&(object), sizeof(object))
#define SC_TAKEN(p, n) (sc_stack_taken(), sc_local(p, n))
#else
#define SC_STATIC(n, object) typedef char sc_extent##n
#define SC_STATIC_ONE(n, object) SC_STATIC(n, object)
#define SC_TEXT(n, literal) SC_STATIC(n, literal)
#define SC_LOCAL(object) \
    if (sc_any) sc_clear((const void *)&(object), sizeof(object))
#define SC_TAKEN(p, n) \
    if (sc_any) sc_stack_taken(), sc_clear(p, n)
#endif

/* Variables that code without probes names, and so may read; and those that an interrupt handler without probes
 * does. */
#define SC_NAMED(n, object, bytes) \
    static const sc_extent sc_named##n __attribute__((section("sc_named"), used)) = {(const void *)&(object), bytes}
#define SC_SHARED(n, object, bytes) \
    static const sc_extent sc_shared##n __attribute__((section("sc_shared"), used)) = {(const void *)&(object), bytes}
/* Once beside the latter: what such a handler knows otherwise than by name is asked for only in programs that have
 * one. */
sc_u32 sc_lent_to_handlers(const void *p, sc_size n);
typedef sc_u32 sc_asking(const void *p, sc_size n);
#define SC_ASKED sc_asking *const sc_asked __attribute__((weak)) = sc_lent_to_handlers

extern sc_uint sc_strays; /* so many are known */
extern sc_uint sc_origin_varies; /* what sc_recall said last was symbolic where it was told */
extern sc_uint sc_any; /* not 0: some byte of memory may be tainted */

void sc_enter(sc_frame *f, const SC_ROM sc_d *table, const void *self);
void sc_leave(sc_frame *f);
void sc_assign(sc_frame *f, sc_uint at, const sc_uptr *words);
void sc_assign1(sc_frame *f, sc_uint at, sc_uptr a);
void sc_assign2(sc_frame *f, sc_uint at, sc_uptr a, sc_uptr b);
sc_uint sc_branch(sc_frame *f, sc_uint at, sc_uint dir);  /* returns dir, as all of these do */
void sc_tick(void);                           /* in loops without a branch: the budget */
sc_uint sc_cond(sc_frame *f, sc_uint at, sc_uint dir, const sc_uptr *words);
sc_uint sc_cond1(sc_frame *f, sc_uint at, sc_uint dir, sc_uptr a);
sc_uint sc_cond2(sc_frame *f, sc_uint at, sc_uint dir, sc_uptr a, sc_uptr b);
sc_uint sc_test(sc_frame *f, sc_uint at, sc_uptr v);                            /* these compare, too, */
sc_uint sc_test_at(sc_frame *f, sc_uint at, sc_uptr v, const volatile void *p); /* and return the outcome */
sc_uint sc_test2(sc_frame *f, sc_uint at, sc_uptr a, sc_uptr b);
sc_uint sc_switch(sc_frame *f, sc_uint at, sc_uint arm, sc_u64 v); /* returns arm */
void sc_select(sc_frame *f, sc_uint at, sc_uptr *words); /* these two change the words */
void sc_store(sc_frame *f, sc_uint at, sc_uptr *words);
void sc_pin(sc_frame *f, sc_uint at, const sc_uptr *words);
void sc_pin1(sc_frame *f, sc_uint at, sc_uptr a);
void sc_call(sc_frame *f, sc_uint at, const void *callee);
void sc_struct_arg(sc_uint i, const void *p);
void sc_struct_param(sc_frame *f, sc_uint at, sc_uint i, void *p, sc_size n);
void sc_struct_ret(const void *p);
void sc_struct_result(sc_frame *f, sc_uint at, const void *callee, void *p, sc_size n);
sc_uint sc_returned(const void *callee);
void sc_result(sc_frame *f, sc_uint at, const void *callee);
/* code without probes knows it from here on; a number may be no pointer */
void sc_lend(const void *p, sc_uint pointer);
sc_uint sc_finds(sc_uint pointers, sc_uint numbers, ...); /* 2, if it would find symbolic data when it is given these */
sc_uint sc_opaque(sc_frame *f, sc_uint at, ...);
/* Whether it called a function with probes, or was given nothing symbolic: between sc_opaque and sc_opaque_end. */
sc_uint sc_called_back(void);
void sc_opaque_end(sc_frame *f, sc_uint at, sc_uint seen, sc_u64 value);
const SC_ROM sc_d *sc_arguments(void);         /* after sc_enter, in a function with `...`: what it was called with */
void sc_variadic(sc_frame *f, sc_uint at, const SC_ROM sc_d *call, __builtin_va_list list); /* after va_start */
void sc_clear(const void *p, sc_size n);
#ifdef __x86_64__
void sc_stack_taken(void);                     /* an array of variable length is declared */
#else
#define sc_stack_taken() ((void)0)
#endif
void sc_local(const void *p, sc_size n);       /* the same, of a variable that pointers may lead to */
sc_uint sc_tainted(const void *p, sc_size n);  /* some byte of it is tainted */
void sc_copy(sc_frame *f, sc_uint at, void *dst, const void *src, sc_size n);
sc_u64 sc_sym_slot(sc_frame *f, sc_uint at);
void sc_sym_mem(sc_frame *f, sc_uint at, void *p, sc_size n);
void sc_check(sc_frame *f, sc_uint at, sc_uint holds, const sc_uptr *words); /* ends the test if it does not hold */
void sc_asks(sc_frame *f, sc_uint at, sc_uint holds, const sc_uptr *words); /* whether there is anything to check */
void sc_check1(sc_frame *f, sc_uint at, sc_uint holds, sc_uptr a);
sc_uint sc_range(sc_frame *f, sc_uint at, sc_uint holds, const sc_uptr *words); /* returns holds */
sc_uint sc_range1(sc_frame *f, sc_uint at, sc_uint holds, sc_uptr a);
void sc_fail(sc_frame *f, sc_uint at) __attribute__((noreturn, cold)); /* the check's operands are concrete */
/* bounds.c: the access of memory at p, a pointer made from origin; of as many bytes as the descriptor says, or n */
void sc_bounds(sc_frame *f, sc_uint at, const volatile void *p, const volatile void *origin, const sc_uptr *words);
void sc_span(sc_frame *f, sc_uint at, const volatile void *p, const volatile void *origin, sc_size n,
             const sc_uptr *words);
/* nothing is symbolic but what the pointer was made from */
void sc_from(sc_frame *f, sc_uint at, const volatile void *p, const volatile void *origin, sc_size n,
             const sc_uptr *words);
/* nothing is symbolic */
void sc_within(sc_frame *f, sc_uint at, const volatile void *p, const volatile void *origin, sc_size n);
/* Where a pointer was put of which the value does not tell what it was made from; and what that is, of one that was
 * found there. */
#define SC_NUMBERED(n) ((const void *)-(sc_uptr)(n)) /* an argument or a result, as `where` */
#define SC_IS_NUMBER(where) ((sc_uptr)(where) >= (sc_uptr)SC_NUMBERED(0xFFF))
void sc_sized(sc_frame *f, sc_uint at, const volatile void *object, const sc_uptr *limit); /* it has so many bytes */
void sc_stray(const volatile void *where, const volatile void *value, const volatile void *origin, sc_uint varies);
const volatile void *sc_recall(const volatile void *where, const volatile void *value);
sc_size sc_length(const char *text);
void sc_string_within(sc_frame *f, sc_uint at, const char *text, sc_size n); /* a text ends in these bytes */
void sc_value(sc_u64 v);
void sc_assert_fail(sc_frame *f, sc_uint at) __attribute__((noreturn));
void sc_assume_fail(void) __attribute__((noreturn));

#include "quiet.h"

#endif
