/* AVR: the link over a USART, at twice the usual rate of samples, which comes closer to 115200 baud. QEMU: it takes no
 * byte from the host before the receiver is on, and then sleeps on; a dummy read of the data wakes it. */
#include <avr/io.h>

#include "bare.h"

void sc_avr_rest(void);

#define BYTE(offset) (*(volatile sc_u8 *)(SC_UART + (offset)))
#define STATE 0u /* bit 7: a byte is there; 5: can send; 1: twice the rate */
#define CONTROL 1u
#define FORM 2u
#define RATE 4u
#define DATA 6u

void sc_bare_link_start(void)
{
    sc_uint divider = (SC_CLOCK + 4u * SC_BAUD) / (8u * SC_BAUD) - 1u;
    BYTE(CONTROL) = 0;
    BYTE(STATE) = 1u << 1;
    BYTE(RATE + 1u) = (sc_u8)(divider >> 8);
    BYTE(RATE) = (sc_u8)divider;
    BYTE(FORM) = 3u << 1;    /* 8 bits */
    BYTE(CONTROL) = 3u << 3; /* receive and send */
    (void)BYTE(DATA);
}

/* Until a byte comes, perhaps. A guest that polls keeps QEMU's main loop from fetching it, so there it sleeps. */
static void rest(void)
{
#ifdef SC_QEMU
    UCSR0B |= 1u << RXCIE0;
    SMCR = 1u << SE;
    sc_avr_rest();
#endif
}

sc_u32 sc_port_read(sc_u8 *to, sc_u32 n)
{
    sc_u32 got = 0;
    while (!(BYTE(STATE) & 1u << 7)) rest();
    while (got < n && (BYTE(STATE) & 1u << 7)) to[got++] = BYTE(DATA);
    return got;
}

void sc_port_write(const sc_u8 *from, sc_u32 n)
{
    while (n--) {
        while (!(BYTE(STATE) & 1u << 5)) {}
        BYTE(DATA) = *from++;
    }
}

void sc_port_push(void) {}
