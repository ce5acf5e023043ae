/* Cortex-M: the vectors. */
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

void sc_arm_reset(void)
{
    sc_bare_start();
}
