/* What the Cortex-M port's files share. */
#ifndef SC_ARM_H
#define SC_ARM_H

#include "bare.h"

#define SC_IRQS 96u /* interrupts that have a vector */

void sc_arm_landing(void);
void sc_arm_quiet(void); /* no interrupt comes any more */

#endif
