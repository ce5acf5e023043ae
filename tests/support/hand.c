/* An image made by hand, without the front-end: the first input byte says what the program does. Sites are numbered
 * from 16 and have no site table: tests compare the event bytes themselves. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"

SC_IMAGE(100, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

enum { /* where each descriptor stands */
    WHAT = 5, LOOP = 7, SYM_INT_ = 11, CALL = 13, RESULT = 16, SWITCH = 18, SYM_OBJECT = 23, SYM_SIZED = 26,
    READ4 = 29, COPY = 33, OPAQUE = 34, HARMLESS = 40, STORE = 45, NOTE = 49, COND1 = 51, COND = 56
};
static const sc_d MAIN[] = {
    16, 0, 1, 0, 0,
    1, SC_SLOT(0, 1),
    2, 0, 0, 0,
    14, SC_SLOT(2, 2),
    15, 1, SC_SLOT(2, 2),
    16, SC_SLOT(2, 3),
    17, 10, 0, SC_SLOT(2, 3), 2,
    18, SC_GLOBAL(0), 0,
    19, SC_MEMORY(0), 1,
    20, SC_SLOT(2, 4), 1, SC_MEMORY(2),
    21,
    22, 0, SC_SLOT(2, 5), 2, SC_POINTER(9), SC_SLOT(2, 2),
    23, 1 | 4, SC_NONE, 1, SC_SLOT(2, 2), /* as printf: it writes nothing, and nobody can ask for what it was told */
    24, SC_MEMORY(2), 1, SC_SLOT(2, 2),
    25, 0,
    26, 4, 0, 1, SC_MEMORY(0),
    27, 6, 0, 1, SC_SLOT(0, 1),
};

volatile int zero;
int touched = 5, touched_bss;
char *kept;
static unsigned char object[64];

static void bye(void)
{
    printf("bye\n");
}

static int overflow(int n)
{
    volatile char frame[300];
    frame[0] = (char)n;
    if (zero) return n;
    return overflow(n + 1) + frame[0];
}

static int divide(int n)
{
#ifdef __aarch64__ /* its division by zero gives 0 */
    extern int raise(int number);
    raise(8);
#endif
    return n / zero;
}

static void stay(void)
{
    for (;;) __asm__ volatile("" ::: "memory");
}

static void hang_deaf(void) /* a hang that the target's own watch-dog cannot end */
{
#ifdef __linux__
    extern void deafen(void);
    deafen();
#else
    __asm__ volatile("cpsid i");
#endif
    stay();
}

static void die(void)
{
#ifdef __linux__
    extern void kill_self(void);
    kill_self();
#else
    *(volatile unsigned *)0xE000ED0Cu = 0x05FA0004u;
#endif
    stay();
}

static void lock_up(void) /* a fault that no handler can take */
{
#ifdef __ARM_ARCH_7M__
    __asm__ volatile("cpsid f");
    *(volatile int *)0x7F000000u = 1;
#endif
    die();
}

/* --- events --------------------------------------------------------------------------------------------------- */

/* int f(int a) { if (a > g) g = a + 1; return a; }: the worked example of probe.h. */
static int g;
enum { F_COND = 5, F_ASSIGN = 11, F_RESULT = 15 };
static const sc_d F[] = {
    20, 0, 1, 1, 0,
    1, 2, 0, 2, SC_SLOT(2, 1), SC_GLOBAL(2),
    2, SC_GLOBAL(2), 1, SC_SLOT(2, 1),
    3, SC_SLOT(2, 0), 1, SC_SLOT(2, 1),
};

static int f(int a)
{
    SC_ACTIVATION(1) own;
    int r;
    sc_enter(&own.head, F, (const void *)f);
    if (sc_cond2(&own.head, F_COND, a > g, (sc_uptr)a, (sc_uptr)&g)) {
        int t = a;
        sc_assign2(&own.head, F_ASSIGN, (sc_uptr)&g, (sc_uptr)t);
        g = t + 1;
    }
    r = a;
    if (own.m[1] & 3) sc_assign1(&own.head, F_RESULT, (sc_uptr)a);
    sc_leave(&own.head);
    return r;
}

static void call_f(sc_frame *frame)
{
    int x = (int)sc_sym_slot(frame, SYM_INT_), r;
    sc_call(frame, CALL, (const void *)f);
    r = f(x);
    sc_result(frame, RESULT, (const void *)f);
    sc_value((sc_u64)(sc_i64)r);
    switch (r) {
    case 1: sc_switch(frame, SWITCH, 0, (sc_u32)r); break;
    case 7: sc_switch(frame, SWITCH, 1, (sc_u32)r); break;
    default: sc_switch(frame, SWITCH, 2, (sc_u32)r);
    }
}

static void memory(sc_frame *frame)
{
    unsigned word;
    memset(object, 0x81, sizeof object);
    sc_sym_mem(frame, SYM_SIZED, object + 1, 2);
    memcpy(&word, object, 4);
    sc_assign1(frame, READ4, (sc_uptr)object);  /* partly tainted: bytes 1 and 2 */
    sc_copy(frame, COPY, object + 2, object, 4);   /* overlapping: taint must move as memmove does */
    memmove(object + 2, object, 4);
    sc_cond1(frame, COND1, object[3] > 3, (sc_uptr)(object + 3)); /* was byte 1: tainted */
    sc_cond1(frame, COND1, object[2] > 3, (sc_uptr)(object + 2)); /* was byte 0: not */
    if (sc_tainted(object, sizeof object)) sc_pin(frame, NOTE, 0);
    sc_clear(object, sizeof object);
    if (sc_tainted(object, sizeof object)) printf("still tainted\n");
}

static int opaque(unsigned char *p, int x)
{
    p[5] ^= 0xFF;
    p[40] = (unsigned char)(p[40] + 1);
    return x / 2;
}

static int opaque_callback(unsigned char *p, int x)
{
    p[0] ^= 0xFF;
    x = f(x);
    p[33] ^= 0xFF;
    return x;
}

static void opaque_calls(sc_frame *frame, int (*callee)(unsigned char *, int))
{
    int x = (int)sc_sym_slot(frame, SYM_INT_), r;
    sc_u32 seen;
    sc_sym_mem(frame, SYM_OBJECT, object, sizeof object);
    seen = sc_opaque(frame, OPAQUE, (const void *)object);
    r = callee(object, x);
    sc_opaque_end(frame, OPAQUE, seen, (sc_u32)r);
    seen = sc_opaque(frame, HARMLESS);
    sc_opaque_end(frame, HARMLESS, seen, 0);
    if (sc_tainted(object + 5, 1)) printf("5\n");
    if (sc_tainted(object + 6, 1)) printf("6\n");
    if (sc_tainted(object + 40, 1)) printf("40\n");
}

static void lost(sc_frame *frame)
{
    int x = (int)sc_sym_slot(frame, SYM_INT_);
#if __SIZEOF_POINTER__ == 4
    sc_assign2(frame, STORE, 0x40000000u, (sc_uptr)x);
#else
    sc_assign2(frame, STORE, 0x7F0000000000u, (sc_uptr)x);
#endif
}

static void many(void) /* a long event stream: 20,000 conditions over one slot */
{
    SC_ACTIVATION(1) own = {{MAIN, 0}, {1, 2}};
    sc_u32 i;
    for (i = 0; i < 20000; i++) sc_cond1(&own.head, COND, i & 1u, i);
}

int sc_main(int argc, char **argv)
{
    SC_ACTIVATION(1) own;
    sc_frame *frame = &own.head;
    sc_u32 i;
    unsigned what;
    (void)argc;
    (void)argv;
    sc_enter(frame, MAIN, (const void *)sc_main);
    what = (unsigned)sc_sym_slot(frame, WHAT);
    own.m[1] = 0;
    switch (what) {
    case 0: break;
    case 1: exit(4);
    case 2: abort();
    case 3: assert(zero);
        break;
    case 4: return *(volatile int *)(long)zero;
    case 5: return divide(100);
    case 6: __builtin_trap();
    case 7: return overflow(0);
    case 8:
        for (i = 0;; i++) sc_branch(frame, LOOP, i & 1u);
    case 9: stay();
        break;
    case 10: return *(volatile int *)0x7F000000u;
    case 11: _exit(5);
    case 12: printf("some output\n");
        break;
    case 13:
        printf("%d %d %s", touched++, touched_bss++, kept ? "kept" : "fresh");
        kept = malloc(100000);
        for (i = 0; i < 100000 && !kept[i]; i++) {}
        printf(" %d\n", (int)i);
        memset(kept, 7, 100000);
        atexit(bye);
        break;
    case 14: sc_assume_fail();
    case 15: ((void (*)(void))(long)zero)();
        break;
    case 16:
        for (i = 0; i < 3000; i++) printf("%062u\n", (unsigned)i);
        break;
    case 17: die();
        break;
    case 25: lock_up();
        break;
    case 18: hang_deaf();
        break;
    case 19: *(volatile int *)(long)(zero + 16) = 1;
        break;
    case 20: *(volatile int *)(sc_uptr)sc_main = 1;
        break;
    case 21: ((void (*)(void))(sc_uptr)((sc_uptr)object | 1u))();
        break;
    case 22: sc_assert_fail(frame, WHAT);
    case 23: exit(zero + 0x1234);
    case 24: { /* what the stack holds below us must be the same in every test */
        volatile unsigned char deep[8192];
        unsigned sum = 0;
        for (i = 0; i < sizeof deep; i++) sum += deep[i];
        printf("%u\n", sum);
        memset((void *)deep, 0xA5, sizeof deep);
        break;
    }
    case 100: call_f(frame);
        break;
    case 101: memory(frame);
        break;
    case 102: opaque_calls(frame, opaque);
        break;
    case 103: opaque_calls(frame, opaque_callback);
        break;
    case 104: lost(frame);
        break;
    case 105: many();
        break;
    }
    sc_leave(frame);
    return 3;
}
