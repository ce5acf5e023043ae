/* The UART of ARM's Cortex-M System Design Kit (CMSDK TRM, chapter 4.3), as on the MPS2 boards. */
#define UART_DATA (SC_UART + 0x0u)
#define UART_STATE (SC_UART + 0x4u)     /* bit 0: cannot send now; 1: a byte is there */
#define UART_CTRL (SC_UART + 0x8u)
#define UART_INTERRUPT (SC_UART + 0xCu) /* write 2: received, cleared */
#define UART_DIVIDER (SC_UART + 0x10u)

static inline void uart_start(void)
{
    REGISTER(UART_DIVIDER) = SC_CLOCK / SC_BAUD;
    REGISTER(UART_CTRL) = 1u | 2u | 8u; /* transmit, receive, interrupt when received */
    (void)REGISTER(UART_DATA);
}

static inline sc_u32 uart_has_byte(void) { return REGISTER(UART_STATE) & 2u; }
static inline sc_u32 uart_is_full(void) { return REGISTER(UART_STATE) & 1u; }
static inline void uart_was_read(void) { REGISTER(UART_INTERRUPT) = 2u; }
static inline sc_u32 uart_get(void) { return REGISTER(UART_DATA); }
static inline void uart_put(sc_u32 byte) { REGISTER(UART_DATA) = byte; }
