/* ARM's PL011 (DDI 0183), as on the Stellaris boards. Its receive FIFO interrupts when filled or when idle. */
#define UART_DATA (SC_UART + 0x0u)
#define UART_FLAGS (SC_UART + 0x18u) /* bit 4: nothing received; 5: cannot send now */
#define UART_DIVIDER (SC_UART + 0x24u)
#define UART_FRACTION (SC_UART + 0x28u)
#define UART_LINE (SC_UART + 0x2Cu)
#define UART_CTRL (SC_UART + 0x30u)
#define UART_MASK (SC_UART + 0x38u)
#define UART_CLEAR (SC_UART + 0x44u)
#define RECEIVED 0x50u /* FIFO filled, or idle with something in it */

static inline void uart_start(void)
{
    sc_u32 divider = SC_CLOCK * 4u / SC_BAUD; /* 64ths of clock / (16 x baud) */
    REGISTER(UART_CTRL) = 0;
    REGISTER(UART_DIVIDER) = divider >> 6;
    REGISTER(UART_FRACTION) = divider & 63u;
    REGISTER(UART_LINE) = 0x70u; /* 8 bits, FIFOs */
    REGISTER(UART_MASK) = RECEIVED;
    REGISTER(UART_CTRL) = 0x301u; /* on, transmit, receive */
}

static inline sc_u32 uart_has_byte(void) { return !(REGISTER(UART_FLAGS) & 0x10u); }
static inline sc_u32 uart_is_full(void) { return REGISTER(UART_FLAGS) & 0x20u; }
static inline void uart_was_read(void) { REGISTER(UART_CLEAR) = RECEIVED; }
static inline sc_u32 uart_get(void) { return REGISTER(UART_DATA); }
static inline void uart_put(sc_u32 byte) { REGISTER(UART_DATA) = byte; }
