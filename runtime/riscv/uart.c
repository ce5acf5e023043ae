/* The link over an NS16550 UART, as QEMU's virt machine and many boards have it. QEMU: what came before the FIFO was on
 * keeps its main loop from looking for more; a dummy read of the data wakes it. */
#include "bare.h"

#ifndef SC_SEMIHOSTING

#define BYTE(offset) (*(volatile sc_u8 *)(SC_UART + (offset)))
#define DATA 0u
#define INTERRUPTS 1u
#define FIFO 2u
#define LINE 3u
#define STATE 5u /* bit 0: a byte is there; 5: can send */

void sc_bare_link_start(void)
{
    sc_u32 divider = SC_CLOCK / (16u * SC_BAUD);
    BYTE(INTERRUPTS) = 0;
    BYTE(LINE) = 0x80; /* the divider's turn */
    BYTE(DATA) = (sc_u8)divider;
    BYTE(INTERRUPTS) = (sc_u8)(divider >> 8);
    BYTE(LINE) = 3;    /* 8 bits */
    BYTE(FIFO) = 0xC7; /* on, emptied, told of 14 bytes: QEMU is quickest so */
    (void)BYTE(DATA);
}

sc_u32 sc_port_read(sc_u8 *to, sc_u32 n)
{
    sc_u32 got = 0;
    while (!(BYTE(STATE) & 1u)) SC_FEED_NOW();
    while (got < n && (BYTE(STATE) & 1u)) to[got++] = BYTE(DATA);
    return got;
}

void sc_port_write(const sc_u8 *from, sc_u32 n)
{
    SC_FEED_NOW();
    while (n--) {
        while (!(BYTE(STATE) & 1u << 5)) {}
        BYTE(DATA) = *from++;
    }
}

void sc_port_push(void) {}

#endif
