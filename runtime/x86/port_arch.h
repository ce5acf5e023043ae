/* Native x86-64 (Linux, static, not PIE): where the program lives, and how much of it the taint map covers. */
#ifndef SC_PORT_ARCH_H
#define SC_PORT_ARCH_H

/* 64 KiB null page, guard, stack, image from 4 MiB on (and the thread block, up to 1 GiB further if the kernel
 * randomises it), heap. malloc is called before main, where nothing can be undone: hence the heap is out of reach. */
#define SC_GUARD_BASE 0x00110000u
#define SC_STACK_BASE 0x00120000u
#define SC_STACK_SIZE 0x00200000u
#define SC_HEAP_BASE 0x60000000u
#define SC_HEAP_SIZE 0x08000000u

#define SC_RAM_BASE 0u
#define SC_RAM_SIZE 0x68000000u
#define SC_INPUT_CAPACITY 65535u
#define SC_CHUNK 4096u
#define SC_SHADOW 4096u
#define SC_CRC_TABLES
#define SC_CAPABILITIES 0u
#define SC_IN_INTERRUPT() 0

#endif
