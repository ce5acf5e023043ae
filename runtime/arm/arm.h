/* What the Cortex-M port's files share. */
#ifndef SC_ARM_H
#define SC_ARM_H

#include "bare.h"

#define SC_IRQS 96u /* interrupts that have a vector of the runtime's */
#define SC_GUARD 0x400u /* bytes below the program's stack that nothing may touch */

#ifdef SC_OWN_VECTORS /* the firmware's own table, in which the build has put the runtime's handlers */
extern const sc_u32 sc_arm_table[];
#define SC_VECTORS sc_arm_table
#else
#define SC_VECTORS SC_FLASH_BASE
#endif

/* EXC_RETURN: to thread mode on PSP, with or without floating-point registers. */
#define SC_TO_PROGRAM(exc_return) (((exc_return) | 0x10u) == 0xFFFFFFFDu)

void sc_arm_landing(void);
void sc_arm_quiet(void); /* no interrupt comes any more */
void sc_arm_ticks(sc_u32 on);
void sc_arm_leave(const sc_u32 *psp, sc_u32 verdict); /* from a handler: the test is over */

#endif
