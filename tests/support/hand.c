/* An image made by hand, without the front-end: the first input byte says what the program does. Sites are numbered
 * from 16 and have no site table: tests compare the event bytes themselves. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"

SC_IMAGE(100, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

static const sc_d ENTER[] = {16, 0, 1, 0, 0};
static const sc_d WHAT[] = {17, 0, SC_SLOT(0, 1)};
static const sc_d LOOP[] = {18, 0, 0, 0, 0};

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

static void stay(void)
{
    for (;;) __asm__ volatile("" ::: "memory");
}

static void hang_deaf(void) /* a hang that the target's own watch-dog cannot end */
{
#ifdef __arm__
    __asm__ volatile("cpsid i");
#else
    extern void deafen(void);
    deafen();
#endif
    stay();
}

static void die(void)
{
#ifdef __arm__
    *(volatile unsigned *)0xE000ED0Cu = 0x05FA0004u;
#else
    extern void kill_self(void);
    kill_self();
#endif
    stay();
}

/* --- events --------------------------------------------------------------------------------------------------- */

/* int f(int a) { if (a > g) g = a + 1; return a; }: the worked example of probe.h. */
static int g;
static const sc_d F_ENTER[] = {20, 0, 1, 1, 0};
static const sc_d F_COND[] = {21, 0, 2, 0, 2, SC_SLOT(2, 1), SC_GLOBAL(2)};
static const sc_d F_ASSIGN[] = {22, 0, SC_GLOBAL(2), 1, SC_SLOT(2, 1)};
static const sc_d F_RESULT[] = {23, 0, SC_SLOT(2, 0), 1, SC_SLOT(2, 1)};

static int f(int a)
{
    sc_u32 sc_m[2];
    int r;
    sc_enter(F_ENTER, sc_m, (const void *)f);
    if (sc_cond2(F_COND, sc_m, a > g, (sc_uptr)a, (sc_uptr)&g)) {
        int t = a;
        sc_assign2(F_ASSIGN, sc_m, (sc_uptr)&g, (sc_uptr)t);
        g = t + 1;
    }
    r = a;
    if (sc_m[1] & 3) sc_assign1(F_RESULT, sc_m, (sc_uptr)a);
    sc_leave(F_ENTER, sc_m, (const void *)f);
    return r;
}

static const sc_d SYM_INT_[] = {30, 0, SC_SLOT(2, 2)};
static const sc_d CALL[] = {31, 0, 1, SC_SLOT(2, 2)};
static const sc_d RESULT[] = {32, 0, SC_SLOT(2, 3)};
static const sc_d SWITCH[] = {33, 0, 10, 0, SC_SLOT(2, 3), 2};
static const sc_d SYM_OBJECT[] = {34, 0, SC_GLOBAL(0), 0};
static const sc_d SYM_SIZED[] = {35, 0, SC_MEMORY(0), 1};
static const sc_d READ4[] = {36, 0, SC_SLOT(2, 4), 1, SC_MEMORY(2)};
static const sc_d COPY[] = {37, 0};
static const sc_d OPAQUE[] = {38, 0, 0, SC_SLOT(2, 5), 2, SC_POINTER(9), SC_SLOT(2, 2)};
static const sc_d HARMLESS[] = {39, 0, 1, SC_NONE, 1, SC_SLOT(2, 2)};
static const sc_d STORE[] = {40, 0, SC_MEMORY(2), 1, SC_SLOT(2, 2)};
static const sc_d NOTE[] = {41, 0, 0};
static const sc_d COND1[] = {42, 0, 4, 0, 1, SC_MEMORY(0)};

static void call_f(sc_u32 *sc_m)
{
    int x = (int)sc_sym_slot(SYM_INT_, sc_m), r;
    sc_call(CALL, sc_m, (const void *)f);
    r = f(x);
    sc_result(RESULT, sc_m, (const void *)f);
    sc_value((sc_u64)(sc_i64)r);
    switch (r) {
    case 1: sc_switch(SWITCH, sc_m, 0, (sc_u32)r); break;
    case 7: sc_switch(SWITCH, sc_m, 1, (sc_u32)r); break;
    default: sc_switch(SWITCH, sc_m, 2, (sc_u32)r);
    }
}

static void memory(sc_u32 *sc_m)
{
    unsigned word;
    memset(object, 0x81, sizeof object);
    sc_sym_mem(SYM_SIZED, sc_m, object + 1, 2);
    memcpy(&word, object, 4);
    sc_assign1(READ4, sc_m, (sc_uptr)object);  /* partly tainted: bytes 1 and 2 */
    sc_copy(COPY, sc_m, object + 2, object, 4);   /* overlapping: taint must move as memmove does */
    memmove(object + 2, object, 4);
    sc_cond1(COND1, sc_m, object[3] > 3, (sc_uptr)(object + 3)); /* was byte 1: tainted */
    sc_cond1(COND1, sc_m, object[2] > 3, (sc_uptr)(object + 2)); /* was byte 0: not */
    if (sc_tainted(object, sizeof object)) sc_pin(NOTE, sc_m, 0);
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

static void opaque_calls(sc_u32 *sc_m, int (*callee)(unsigned char *, int))
{
    int x = (int)sc_sym_slot(SYM_INT_, sc_m), r;
    sc_u32 seen;
    sc_sym_mem(SYM_OBJECT, sc_m, object, sizeof object);
    seen = sc_opaque(OPAQUE, sc_m, (const void *)object);
    r = callee(object, x);
    sc_opaque_end(OPAQUE, sc_m, seen, (sc_u32)r);
    seen = sc_opaque(HARMLESS, sc_m);
    sc_opaque_end(HARMLESS, sc_m, seen, 0);
    if (sc_tainted(object + 5, 1)) printf("5\n");
    if (sc_tainted(object + 6, 1)) printf("6\n");
    if (sc_tainted(object + 40, 1)) printf("40\n");
}

static void lost(sc_u32 *sc_m)
{
    int x = (int)sc_sym_slot(SYM_INT_, sc_m);
#ifdef __arm__
    sc_assign2(STORE, sc_m, 0x40000000u, (sc_uptr)x);
#else
    sc_assign2(STORE, sc_m, 0x7F0000000000u, (sc_uptr)x);
#endif
}

static void many(void) /* a long event stream: 20,000 conditions over one slot */
{
    static const sc_d COND[] = {43, 0, 6, 0, 1, SC_SLOT(0, 1)};
    sc_u32 sc_m[2] = {1, 2}, i;
    for (i = 0; i < 20000; i++) sc_cond1(COND, sc_m, i & 1u, i);
}

int sc_main(int argc, char **argv)
{
    sc_u32 sc_m[2], i;
    unsigned what;
    (void)argc;
    (void)argv;
    sc_enter(ENTER, sc_m, (const void *)sc_main);
    what = (unsigned)sc_sym_slot(WHAT, sc_m);
    sc_m[1] = 0;
    switch (what) {
    case 0: break;
    case 1: exit(4);
    case 2: abort();
    case 3: assert(zero);
        break;
    case 4: return *(volatile int *)(long)zero;
    case 5: return 100 / zero;
    case 6: __builtin_trap();
    case 7: return overflow(0);
    case 8:
        for (i = 0;; i++) sc_branch(LOOP, i & 1u);
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
    case 18: hang_deaf();
        break;
    case 19: *(volatile int *)(long)(zero + 16) = 1;
        break;
    case 20: *(volatile int *)(sc_uptr)sc_main = 1;
        break;
    case 21: ((void (*)(void))(sc_uptr)((sc_uptr)object | 1u))();
        break;
    case 22: sc_assert_fail(ENTER);
    case 23: exit(zero + 0x1234);
    case 24: { /* what the stack holds below us must be the same in every test */
        volatile unsigned char deep[8192];
        unsigned sum = 0;
        for (i = 0; i < sizeof deep; i++) sum += deep[i];
        printf("%u\n", sum);
        memset((void *)deep, 0xA5, sizeof deep);
        break;
    }
    case 100: call_f(sc_m);
        break;
    case 101: memory(sc_m);
        break;
    case 102: opaque_calls(sc_m, opaque);
        break;
    case 103: opaque_calls(sc_m, opaque_callback);
        break;
    case 104: lost(sc_m);
        break;
    case 105: many();
        break;
    }
    sc_leave(ENTER, sc_m, (const void *)sc_main);
    return 3;
}
