/* The link over the CMSDK UART, as on a real board.
 *
 * QEMU's model of this UART refuses input until the guest enables it, and nothing then wakes QEMU's main loop: a
 * dummy read of DATA does. Waiting by polling fights QEMU for its lock, so the processor sleeps until the interrupt
 * line rises, with interrupts masked: no handler runs. */
#include "arm.h"

#ifndef SC_SEMIHOSTING

#define UART 0x40004000u
#define UART_DATA (UART + 0x0u)
#define UART_STATE (UART + 0x4u)
#define UART_CTRL (UART + 0x8u)
#define UART_INTERRUPT (UART + 0xCu)
#define UART_BAUD (UART + 0x10u)
#define TX_FULL 1u
#define RX_FULL 2u
#define NVIC_ISER 0xE000E100u
#define NVIC_ICER 0xE000E180u
#define NVIC_ICPR 0xE000E280u
#define RX_IRQ 1u /* bit 0: interrupt 0 */

void sc_arm_link_start(void)
{
    REGISTER(UART_BAUD) = 217; /* 115,200 baud at 25 MHz */
    REGISTER(UART_CTRL) = 1u | 2u | 8u; /* transmit, receive, interrupt when received */
    (void)REGISTER(UART_DATA);
}

sc_u32 sc_port_read(sc_u8 *to, sc_u32 n)
{
    sc_u32 got = 0;
    __asm__ volatile("cpsid i" ::: "memory");
    REGISTER(NVIC_ISER) = RX_IRQ;
    while (!(REGISTER(UART_STATE) & RX_FULL)) {
        __asm__ volatile("dsb\n\twfi" ::: "memory");
        REGISTER(NVIC_ICPR) = RX_IRQ;
    }
    while (got < n && (REGISTER(UART_STATE) & RX_FULL)) to[got++] = (sc_u8)REGISTER(UART_DATA);
    REGISTER(UART_INTERRUPT) = 2u;
    REGISTER(NVIC_ICER) = RX_IRQ;
    REGISTER(NVIC_ICPR) = RX_IRQ;
    __asm__ volatile("cpsie i" ::: "memory");
    return got;
}

void sc_port_write(const sc_u8 *from, sc_u32 n)
{
    while (n--) {
        while (REGISTER(UART_STATE) & TX_FULL) {}
        REGISTER(UART_DATA) = *from++;
    }
}

#endif
