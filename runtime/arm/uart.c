/* The link over a UART, as on a real board. The registers are in uart_KIND.h.
 *
 * QEMU: some models refuse input until the guest enables it, and nothing then wakes QEMU's main loop: a dummy read
 * of the data register does. Waiting by polling fights QEMU for its lock, so the processor sleeps until the interrupt
 * line rises, with interrupts masked: no handler runs. */
#include "arm.h"

#ifndef SC_SEMIHOSTING

#if defined SC_UART_CMSDK
#include "uart_cmsdk.h"
#elif defined SC_UART_PL011
#include "uart_pl011.h"
#elif defined SC_UART_STM32
#include "uart_stm32.h"
#elif defined SC_UART_NRF51
#include "uart_nrf51.h"
#else
#error "the profile's `uart: kind` has no driver on this architecture"
#endif

#define NVIC_ISER (0xE000E100u + 4u * (SC_UART_IRQ / 32u))
#define NVIC_ICER (0xE000E180u + 4u * (SC_UART_IRQ / 32u))
#define NVIC_ICPR (0xE000E280u + 4u * (SC_UART_IRQ / 32u))
#define LINE (1u << SC_UART_IRQ % 32u)

void sc_bare_link_start(void)
{
    uart_start();
}

sc_u32 sc_port_read(sc_u8 *to, sc_u32 n)
{
    sc_u32 got = 0;
    __asm__ volatile("cpsid i" ::: "memory");
    REGISTER(NVIC_ISER) = LINE;
    sc_arm_ticks(1); /* its ticks wake the processor, and with it an emulator that sleeps */
    while (!uart_has_byte()) {
        __asm__ volatile("dsb\n\twfi" ::: "memory");
        REGISTER(NVIC_ICPR) = LINE;
        SC_FEED_NOW();
    }
    while (got < n && uart_has_byte()) to[got++] = (sc_u8)uart_get();
    uart_was_read();
    sc_arm_ticks(0);
    REGISTER(NVIC_ICER) = LINE;
    REGISTER(NVIC_ICPR) = LINE;
    __asm__ volatile("cpsie i" ::: "memory");
    return got;
}

void sc_port_write(const sc_u8 *from, sc_u32 n)
{
    SC_FEED_NOW();
    while (n--) {
        while (uart_is_full()) {}
        uart_put(*from++);
    }
}

void sc_port_push(void) {}

#endif
