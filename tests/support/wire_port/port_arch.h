/* The test loop as an ordinary program, for sanitizers: small buffers, memory of its own. */
#ifndef SC_PORT_ARCH_H
#define SC_PORT_ARCH_H

#define SC_RAM_BASE 0x10000000u
#ifndef SC_RAM_SIZE
#define SC_RAM_SIZE 0x00010000u
#endif
#define SC_STACK_BASE SC_RAM_BASE
#define SC_STACK_SIZE 0x1000u
#define SC_INPUT_CAPACITY 300u
#define SC_CHUNK 64u
#define SC_SHADOW 16u
#define SC_CAPABILITIES 0u
#define SC_IN_INTERRUPT() 0

#endif
