/* Cortex-M: start-up, vectors, the CMSDK UART, restore.
 *
 * QEMU's model of this UART refuses input until the guest enables it, and nothing then wakes QEMU's main loop: a
 * dummy read of DATA does. Waiting by polling fights QEMU for its lock, so the processor sleeps until the interrupt
 * line rises, with interrupts masked: no handler runs. */
#include "arm.h"

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

void sc_arm_reset(void);
void sc_arm_fault(void);
void sc_arm_systick(void);
static void unexpected(void);

typedef void (*vector)(void);
#define EIGHT unexpected, unexpected, unexpected, unexpected, unexpected, unexpected, unexpected, unexpected
__attribute__((section(".sc_vectors"), used)) static const vector vectors[16 + 32] = {
    (vector)__sc_stack_top, sc_arm_reset, sc_arm_fault, sc_arm_fault, sc_arm_fault, sc_arm_fault, sc_arm_fault,
    0, 0, 0, 0, unexpected, unexpected, 0, unexpected, sc_arm_systick, EIGHT, EIGHT, EIGHT, EIGHT,
};

/* An interrupt that nobody handles: off with it. */
static void unexpected(void)
{
    REGISTER(NVIC_ICER) = 0xFFFFFFFFu;
}

void sc_arm_fill_words(sc_u32 *from, sc_u32 *to)
{
    for (; from + 4 <= to; from += 4) from[0] = from[1] = from[2] = from[3] = 0;
    while (from < to) *from++ = 0;
}

void sc_arm_reset(void)
{
    sc_arm_fill_words(__sc_data_start, __sc_data_end);
    REGISTER(UART_BAUD) = 217; /* 115,200 baud at 25 MHz */
    REGISTER(UART_CTRL) = 1u | 2u | 8u; /* transmit, receive, interrupt when received */
    (void)REGISTER(UART_DATA);
    sc_arm_protect();
    sc_main_loop();
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

void sc_port_restore(void)
{
    const sc_u32 *from = __put_data_load;
    sc_u32 *to;
    for (to = __put_data_start; to < __put_data_end;) *to++ = *from++;
    sc_arm_fill_words(__put_bss_start, __put_bss_end);
    sc_arm_heap_restore();
    sc_arm_fill_words(__put_stack_base, __put_stack_top);
}

/* In the program's context: constructors first, as their effects are part of what a restore undoes. */
void sc_arm_program(void)
{
    void (*const *f)(void);
    for (f = __init_array_start; f < __init_array_end; f++) (*f)();
    sc_program();
}

void sc_port_run(sc_u32 watchdog_ms)
{
    sc_arm_protect();
    sc_arm_watch(watchdog_ms);
    sc_arm_enter(__put_stack_top, &sc_arm_saved_sp);
    sc.running = 0;
    sc_arm_watch(0);
    sc_arm_protect();
}

void sc_port_stop(void)
{
    sc.running = 0;
    sc_arm_leave(sc_arm_saved_sp);
}

sc_u32 sc_port_free_ram(void)
{
    return sc_arm_heap_free();
}
