/* AVR: int and pointers have 16 bits, constants are data in RAM unless they are said to be in ROM (SC_ROM), and nothing
 * protects memory. The board's profile says what the taint map covers and sizes the buffers. */
#ifndef SC_PORT_ARCH_H
#define SC_PORT_ARCH_H

#ifndef SC_INPUT_CAPACITY
#define SC_INPUT_CAPACITY 32u
#endif
#ifndef SC_CHUNK
#define SC_CHUNK 32u
#endif
#ifndef SC_SHADOW
#define SC_SHADOW 1u
#endif
#define SC_CAPABILITIES SC_CAN_RESET

/* A handler cannot be told from code that has switched interrupts off: so handlers count. */
#define SC_IN_INTERRUPT() (sc_handlers != 0)

/* No program can change them, but for a wild store. */
extern unsigned char __put_constants_start[], __put_constants_end[];
#define SC_CONSTANT(p) \
    ((sc_uptr)(p) - (sc_uptr)__put_constants_start < (sc_uptr)(__put_constants_end - __put_constants_start))

/* A frame that begins below this has overflowed the program's stack: what lies under it is for the probes. */
extern unsigned char sc_avr_stack_limit[];
#define SC_STACK_LIMIT ((sc_uptr)sc_avr_stack_limit)

/* malloc takes the heap without asking. */
#define SC_HEAP_IS_FREE

#define SC_REGISTER sc_u8
#define SC_OWN_EXIT

/* Where the caller goes on, in bytes: return addresses count words of code. */
#define SC_RETURN_ADDRESS() ((sc_u64)(sc_uptr)__builtin_return_address(0) << 1)

#endif
