/* What ports without an operating system share, and what each of them adds.
 *
 * A port brings: start-up that ends in sc_bare_start(), the switch between the two stacks, faults, the watch-dog,
 * a UART, and its C library's system calls. */
#ifndef SC_BARE_H
#define SC_BARE_H

#include "state.h"

#ifndef SC_REGISTER
#define SC_REGISTER sc_u32
#endif
#define REGISTER(address) (*(volatile SC_REGISTER *)(address))

#ifndef SC_RETURN_ADDRESS
#define SC_RETURN_ADDRESS() ((sc_u64)(sc_uptr)__builtin_return_address(0))
#endif

/* From the linker script. */
extern sc_u32 __put_data_start[], __put_data_end[], __put_bss_start[], __put_bss_end[];
extern sc_u32 __put_heap_start[], __put_heap_end[], __put_stack_base[], __put_stack_top[];
extern sc_u32 __sc_data_start[], __sc_data_end[], __sc_stack_top[];
extern const SC_ROM sc_u32 __put_data_load[];
extern void (*const SC_ROM __init_array_start[])(void), (*const SC_ROM __init_array_end[])(void);

/* Memory that a test's restore brings back: copied from `load`, zeroed if that is 0. The build lists them if the
 * linker script is the firmware's own. */
typedef struct {
    sc_u32 *start, *end;
    const sc_u32 *load;
} sc_bare_region;
extern const sc_bare_region sc_bare_regions[]; /* the last starts at 0 */

void sc_bare_start(void) __attribute__((noreturn));
void sc_bare_go_on(void) __attribute__((noreturn, used)); /* from where the firmware's own start-up has ended */
void sc_bare_program(void);             /* what runs on the program's stack */
void *sc_bare_sbrk(int increment);      /* (void *)-1: no memory */
extern sc_u32 *sc_bare_saved_sp;        /* the runtime's stack while the program runs */

void sc_bare_assertion(const char *file, int line, const char *function, const char *text) __attribute__((noreturn));

/* The port's. */
void sc_bare_enter(sc_u32 *stack_top, sc_u32 **saved_sp); /* run sc_bare_program there; returns at sc_bare_leave */
void sc_bare_leave(sc_u32 *saved_sp) __attribute__((noreturn));
void sc_bare_link_start(void);
void sc_bare_flush(void);                /* the program has ended: send what is held of its output */
void sc_bare_protect(void);              /* faults and memory protection as the tests need them */
void sc_bare_watch(sc_u32 milliseconds); /* 0 stops the watch-dog */

#endif
