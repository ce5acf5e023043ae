/* The UART of nRF51 (reference manual, chapter 29): tasks and events. Its pins are for the profile's `setup`. */
#define UART_START_RX (SC_UART + 0x000u)
#define UART_START_TX (SC_UART + 0x008u)
#define UART_RECEIVED (SC_UART + 0x108u)
#define UART_SENT (SC_UART + 0x11Cu)
#define UART_INTERRUPT (SC_UART + 0x304u)
#define UART_ENABLE (SC_UART + 0x500u)
#define UART_RX (SC_UART + 0x518u)
#define UART_TX (SC_UART + 0x51Cu)
#define UART_BAUD (SC_UART + 0x524u)

static inline void uart_start(void)
{
    REGISTER(UART_BAUD) = (sc_u32)(((sc_u64)SC_BAUD << 32) / SC_CLOCK + 0x800u) & ~0xFFFu;
    REGISTER(UART_ENABLE) = 4;
    REGISTER(UART_INTERRUPT) = 1u << 2;
    REGISTER(UART_START_RX) = 1;
    REGISTER(UART_START_TX) = 1;
    (void)REGISTER(UART_RX);
}

static inline sc_u32 uart_has_byte(void) { return REGISTER(UART_RECEIVED); }
static inline sc_u32 uart_is_full(void) { return 0; }
static inline void uart_was_read(void) {}

static inline sc_u32 uart_get(void)
{
    REGISTER(UART_RECEIVED) = 0;
    return REGISTER(UART_RX);
}

static inline void uart_put(sc_u32 byte)
{
    REGISTER(UART_SENT) = 0;
    REGISTER(UART_TX) = byte;
    while (!REGISTER(UART_SENT)) {}
}
