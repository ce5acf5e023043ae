/* What the Cortex-M port's files share. */
#ifndef SC_ARM_H
#define SC_ARM_H

#include "state.h"

#define SC_IRQS 96u /* interrupts that have a vector */
#define REGISTER(address) (*(volatile sc_u32 *)(address))

/* From the linker script. */
extern sc_u32 __put_data_start[], __put_data_end[], __put_data_load[], __put_bss_start[], __put_bss_end[];
extern sc_u32 __put_heap_start[], __put_heap_end[], __put_stack_base[], __put_stack_top[];
extern sc_u32 __sc_data_start[], __sc_data_end[], __sc_stack_top[];
extern void (*const __init_array_start[])(void), (*const __init_array_end[])(void);

void sc_arm_enter(sc_u32 *stack_top, sc_u32 **saved_sp); /* run sc_arm_program there; returns at sc_arm_leave */
void sc_arm_leave(sc_u32 *saved_sp) __attribute__((noreturn));
void sc_arm_landing(void);
void sc_arm_program(void);
void sc_arm_link_start(void);
void sc_arm_quiet(void);               /* no interrupt comes any more */
void sc_arm_protect(void);             /* faults, MPU: as the tests need them */
void sc_arm_watch(sc_u32 milliseconds); /* 0 stops the watch-dog */
sc_u32 sc_arm_heap_free(void);
void sc_arm_heap_restore(void);
void sc_arm_fill_words(sc_u32 *from, sc_u32 *to);

extern sc_u32 *sc_arm_saved_sp;

#endif
