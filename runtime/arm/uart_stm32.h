/* The USART of STM32F1, F2 and F4 (RM0090, chapter 30). */
#define UART_STATE (SC_UART + 0x0u) /* bit 5: a byte is there; 7: can send */
#define UART_DATA (SC_UART + 0x4u)
#define UART_DIVIDER (SC_UART + 0x8u)
#define UART_CTRL (SC_UART + 0xCu)

static inline void uart_start(void)
{
    REGISTER(UART_DIVIDER) = (SC_CLOCK + SC_BAUD / 2u) / SC_BAUD;
    REGISTER(UART_CTRL) = 1u << 13 | 1u << 5 | 1u << 3 | 1u << 2; /* on, interrupt when received, transmit, receive */
}

static inline sc_u32 uart_has_byte(void) { return REGISTER(UART_STATE) & 1u << 5; }
static inline sc_u32 uart_is_full(void) { return !(REGISTER(UART_STATE) & 1u << 7); }
static inline void uart_was_read(void) {} /* reading the data did it */
static inline sc_u32 uart_get(void) { return REGISTER(UART_DATA); }
static inline void uart_put(sc_u32 byte) { REGISTER(UART_DATA) = byte; }
