/* Cortex-M: start-up, vectors, restore. The link is in uart.c or semihosting.c. */
#include "arm.h"

void sc_arm_reset(void);
void sc_arm_fault(void);
void sc_arm_systick(void);
static void unexpected(void);

typedef void (*vector)(void);
#define EIGHT unexpected, unexpected, unexpected, unexpected, unexpected, unexpected, unexpected, unexpected
__attribute__((section(".sc_vectors"), used)) static const vector vectors[16 + SC_IRQS] = {
    (vector)__sc_stack_top, sc_arm_reset, sc_arm_fault, sc_arm_fault, sc_arm_fault, sc_arm_fault, sc_arm_fault,
    0, 0, 0, 0, unexpected, unexpected, 0, unexpected, sc_arm_systick,
    EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT,
};

/* An interrupt that nobody handles: off with it. */
static void unexpected(void)
{
    sc_arm_quiet();
}

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

void sc_arm_fill_words(sc_u32 *from, sc_u32 *to)
{
    for (; from + 4 <= to; from += 4) from[0] = from[1] = from[2] = from[3] = 0;
    while (from < to) *from++ = 0;
}

void sc_arm_reset(void)
{
    sc_arm_fill_words(__sc_data_start, __sc_data_end);
    set_up();
    sc_arm_link_start();
    sc_arm_protect();
    sc_main_loop();
}

void sc_port_restore(void)
{
    const sc_u32 *from = __put_data_load;
    sc_u32 *to;
    for (to = __put_data_start; to < __put_data_end;) *to++ = *from++;
    sc_arm_fill_words(__put_bss_start, __put_bss_end);
    sc_arm_heap_restore();
    sc_arm_fill_words(__put_stack_base, __put_stack_top);
}

/* In the program's context: constructors first, as their effects are part of what a restore undoes. */
void sc_arm_program(void)
{
    void (*const *f)(void);
    for (f = __init_array_start; f < __init_array_end; f++) (*f)();
    sc_program();
}

void sc_port_run(sc_u32 watchdog_ms)
{
    sc_arm_protect();
    sc_arm_watch(watchdog_ms);
    sc_arm_enter(__put_stack_top, &sc_arm_saved_sp);
    sc.running = 0;
    sc_arm_watch(0);
    sc_arm_protect();
}

void sc_port_stop(void)
{
    sc.running = 0;
    sc_arm_leave(sc_arm_saved_sp);
}

sc_u32 sc_port_free_ram(void)
{
    return sc_arm_heap_free();
}
