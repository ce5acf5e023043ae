/* Cortex-M: the vectors. A firmware's own table gets the runtime's handlers in the build (image/layout.py); a linker
 * script without such a table is taken to want one by the usual name. */
#include "arm.h"

void sc_arm_reset(void);
void sc_arm_fault(void);
void sc_arm_systick(void);

#ifndef SC_OWN_VECTORS
#ifdef SC_OWN_LAYOUT
#define SECTION ".isr_vector"
#else
#define SECTION ".sc_vectors"
#endif
static void unexpected(void);

typedef void (*vector)(void);
#define EIGHT unexpected, unexpected, unexpected, unexpected, unexpected, unexpected, unexpected, unexpected
__attribute__((section(SECTION), used)) const vector sc_arm_vectors[16 + SC_IRQS] = {
    (vector)__sc_stack_top, sc_arm_reset, sc_arm_fault, sc_arm_fault, sc_arm_fault, sc_arm_fault, sc_arm_fault,
    0, 0, 0, 0, unexpected, unexpected, 0, unexpected, sc_arm_systick,
    EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT,
#ifdef SC_WATCHDOG_TIMER
    [16 + SC_TIMER_IRQ] = sc_arm_systick,
#endif
};

/* An interrupt that nobody handles: off with it. */
static void unexpected(void)
{
    sc_arm_quiet();
}
#endif

void sc_arm_reset(void)
{
    sc_bare_start();
}

#if defined SC_INIT || defined SC_OWN_VECTORS
/* The firmware's start-up calls its main, on its own stack: from here on it is ours. */
__attribute__((naked)) int main(void)
{
    __asm__ volatile("ldr r0, =__sc_stack_top\n\tmsr msp, r0\n\tldr r0, =sc_bare_go_on\n\tbx r0\n\t.ltorg");
}
#endif
