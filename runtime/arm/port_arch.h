/* Cortex-M. The board's profile says what the taint map covers (SC_RAM_BASE, SC_RAM_SIZE) and may size the buffers. */
#ifndef SC_PORT_ARCH_H
#define SC_PORT_ARCH_H

#ifndef SC_INPUT_CAPACITY
#define SC_INPUT_CAPACITY 1024u
#endif
#ifndef SC_CHUNK
#define SC_CHUNK 256u
#endif
#ifndef SC_SHADOW
#define SC_SHADOW 32u
#endif
#define SC_CAPABILITIES SC_CAN_RESET
#ifdef SC_FLASH_BASE
#define SC_CONSTANT(p) ((sc_uptr)(p) - SC_FLASH_BASE < SC_FLASH_SIZE)
#endif

/* The exception number is 0 in thread mode only. */
static inline unsigned sc_arm_exception(void)
{
    unsigned number;
    __asm__ volatile("mrs %0, ipsr" : "=r"(number));
    return number;
}

/* ARM: Semihosting for AArch32 and AArch64. */
static inline unsigned sc_port_semihost(unsigned operation, unsigned block)
{
    register unsigned r0 __asm__("r0") = operation, r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}
#define SC_IN_INTERRUPT() (sc_arm_exception() != 0)

#endif
