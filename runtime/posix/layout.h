/* Linux (static, not PIE, image from 4 MiB on): where the program lives, and how much of it the taint map covers.
 *
 * 64 KiB null page, guard, stack, image, the thread's block, heap. Should the kernel not let us turn randomisation off,
 * the thread's block lies up to 1 GiB (32 bits: 32 MiB) behind the image. malloc is called before main, where nothing
 * can be undone: hence the heap is out of reach. The map is an eighth of what it covers and lies in the image: small
 * with 32 bits. */
#ifndef SC_LAYOUT_H
#define SC_LAYOUT_H

#define SC_GUARD_BASE 0x00110000u
#define SC_STACK_BASE 0x00120000u
#define SC_STACK_SIZE 0x00200000u
#if __SIZEOF_POINTER__ == 8
#define SC_HEAP_BASE 0x60000000u
#else
#define SC_HEAP_BASE 0x10000000u
#endif
#define SC_HEAP_SIZE 0x08000000u

#define SC_RAM_BASE 0u
#define SC_RAM_SIZE (SC_HEAP_BASE + SC_HEAP_SIZE)
#define SC_INPUT_CAPACITY 65535u
#define SC_CHUNK 4096u
#define SC_READ 65536u
#define SC_SHADOW 4096u
#define SC_TABLES 64u
#define SC_LOCALS 1024u
#define SC_STRAYS 64u
#ifndef __ASSEMBLER__
extern char __executable_start[], __data_start[];
#endif
#define SC_CONSTANT(p) ((sc_uptr)(p) - (sc_uptr)__executable_start < (sc_uptr)(__data_start - __executable_start))
#define SC_EARLY() (!sc.running)
#define SC_CRC_TABLES
#define SC_CAPABILITIES 0u
#define SC_IN_INTERRUPT() 0
#define SC_IS_MEMORY(p) ((void)(p), 1) /* other addresses fault */

#endif
