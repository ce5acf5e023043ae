/* RISC-V, 32 bits, machine mode. The board's profile says what the taint map covers and may size the buffers. */
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

/* RISC-V Semihosting: the ebreak between these two instructions is a call of the host. */
static inline unsigned sc_port_semihost(unsigned operation, unsigned block)
{
    register unsigned a0 __asm__("a0") = operation, a1 __asm__("a1") = block;
    __asm__ volatile(
        ".option push\n\t.option norvc\n\t.balign 16\n\t"
        "slli x0, x0, 0x1f\n\tebreak\n\tsrai x0, x0, 7\n\t.option pop"
        : "+r"(a0) : "r"(a1) : "memory");
    return a0;
}

/* A handler cannot be told from code that has switched interrupts off: so handlers count. */
#define SC_IN_INTERRUPT() (sc_handlers != 0)

#endif
