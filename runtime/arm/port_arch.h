/* Cortex-M: what the taint map covers (the linker script puts the program there), and the sizes of buffers. */
#ifndef SC_PORT_ARCH_H
#define SC_PORT_ARCH_H

#define SC_RAM_BASE 0x20000000u
#define SC_RAM_SIZE 0x00100000u
#define SC_INPUT_CAPACITY 8192u
#define SC_CHUNK 1024u
#define SC_SHADOW 512u
#define SC_CAPABILITIES SC_CAN_RESET

/* The exception number is 0 in thread mode only. */
static inline unsigned sc_arm_exception(void)
{
    unsigned number;
    __asm__ volatile("mrs %0, ipsr" : "=r"(number));
    return number;
}
#define SC_IN_INTERRUPT() (sc_arm_exception() != 0)

#endif
