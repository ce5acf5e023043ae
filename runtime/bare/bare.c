/* Bare metal: from reset to the test loop, and what a test's restore brings back. */
#include "bare.h"

sc_u32 *sc_bare_saved_sp SC_RUNTIME_DATA;
static sc_u8 *heap_end SC_RUNTIME_DATA, *heap_high SC_RUNTIME_DATA;

/* What the board needs before its UART works: clocks, pins. */
static void set_up(void)
{
#ifdef SC_SETUP
    static const struct { sc_u32 at, clear, set; } steps[] = {SC_SETUP};
    sc_u32 i;
    for (i = 0; i < sizeof steps / sizeof *steps; i++)
        REGISTER(steps[i].at) = (REGISTER(steps[i].at) & ~steps[i].clear) | steps[i].set;
#endif
}

static void fill_words(sc_u32 *from, sc_u32 *to)
{
#ifdef SC_QUIET_STATE /* where code may be large */
    for (; from + 16 <= to; from += 16) {
        from[0] = from[1] = from[2] = from[3] = from[4] = from[5] = from[6] = from[7] = 0;
        from[8] = from[9] = from[10] = from[11] = from[12] = from[13] = from[14] = from[15] = 0;
    }
#endif
    for (; from + 4 <= to; from += 4) from[0] = from[1] = from[2] = from[3] = 0;
    while (from < to) *from++ = 0;
}

#ifdef SC_FEED
void sc_port_feed(void)
{
    static const struct { sc_u32 at, value; } steps[] = {SC_FEED};
    sc_u32 i;
    for (i = 0; i < sizeof steps / sizeof *steps; i++) REGISTER(steps[i].at) = steps[i].value;
}
#endif

void sc_bare_go_on(void)
{
    fill_words(__sc_data_start, __sc_data_end);
    set_up();
    sc_bare_link_start();
    sc_bare_protect();
    sc_port_restore(); /* the runtime's own constants may be data */
    sc_main_loop();
    for (;;) {}
}

void sc_bare_start(void)
{
#ifdef SC_INIT
#ifdef SC_INIT_WEAK
    extern void SC_INIT(void) __attribute__((weak));
#else
    extern void SC_INIT(void);
#endif
    fill_words(__sc_data_start, __sc_data_end);
    sc_port_restore();
    sc.max_branches = 0xFFFFFFFFu; /* probes in it count, and send nothing */
    sc.mispredicted = 1;
    sc.chunk = SC_CHUNK;
    if (SC_INIT) SC_INIT(); /* may be a whole start-up, that calls main */
#endif
    sc_bare_go_on();
}

#ifdef SC_OWN_LAYOUT
static void bring_back(const sc_bare_region *r)
{
    sc_uptr start = (sc_uptr)r->start, n = (sc_uptr)r->end - start, words = 0;
    if (!((start | (sc_uptr)r->load) & 3u)) {
        const sc_u32 *from = r->load;
        sc_u32 *to = r->start, *end = (sc_u32 *)(start + (n & ~(sc_uptr)3u));
        words = n & ~(sc_uptr)3u;
        if (from) while (to < end) *to++ = *from++;
        else fill_words(to, end);
    }
    if (r->load) sc_copy_bytes((sc_u8 *)r->start + words, (const sc_u8 *)r->load + words, n - words);
    else sc_fill_zero((sc_u8 *)r->start + words, n - words);
}

static void restore_data(void)
{
    const sc_bare_region *r;
    for (r = sc_bare_regions; r->start; r++) {
        bring_back(r);
        SC_FEED_NOW();
    }
}
#else
static void restore_data(void)
{
    const SC_ROM sc_u32 *from = __put_data_load;
    sc_u32 *to;
    for (to = __put_data_start; to < __put_data_end;) *to++ = *from++;
    fill_words(__put_bss_start, __put_bss_end);
}
#endif

void sc_port_restore(void)
{
    sc_uptr high = ((sc_uptr)heap_high + 3u) & ~(sc_uptr)3u;
    restore_data();
#ifdef SC_HEAP_IS_FREE
    high = (sc_uptr)__put_heap_end;
#endif
    if (high) fill_words(__put_heap_start, (sc_u32 *)high);
    heap_end = heap_high = (sc_u8 *)__put_heap_start;
    fill_words(__put_stack_base, __put_stack_top);
}

void *sc_bare_sbrk(int increment)
{
    sc_u8 *old = heap_end;
    if (increment > (sc_u8 *)__put_heap_end - old || increment < (sc_u8 *)__put_heap_start - old) return (void *)-1;
    heap_end = old + increment;
    if (heap_end > heap_high) heap_high = heap_end;
    return old;
}

sc_u8 *sc_port_more(sc_size n)
{
    void *at = sc_bare_sbrk((int)n);
    return at == (void *)-1 ? 0 : at;
}

/* In the program's context: constructors first, as their effects are part of what a restore undoes. */
void sc_bare_program(void)
{
    void (*const SC_ROM *f)(void);
    for (f = __init_array_start; f < __init_array_end; f++) (*f)();
    sc_program();
}

void sc_port_run(sc_u32 watchdog_ms)
{
    sc_bare_protect();
    sc_bare_watch(watchdog_ms);
    sc_bare_enter(__put_stack_top, &sc_bare_saved_sp);
    sc.running = 0;
#ifdef SC_STACK_LIMIT
    /* in code without probes: the restore had cleared it */
    if (*__put_stack_base) sc.verdict = SC_VERDICT_STACK_OVERFLOW;
#endif
    sc_bare_watch(0);
    sc_bare_flush();
    sc_bare_protect();
}

void sc_port_stop(void)
{
    sc.running = 0;
    sc_bare_leave(sc_bare_saved_sp);
}

sc_u32 sc_port_free_ram(void)
{
    return (sc_u32)((sc_u8 *)__put_heap_end - (sc_u8 *)__put_heap_start);
}
