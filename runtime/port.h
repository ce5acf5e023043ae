/* What a port provides: the functions below, and constants in its own "port_arch.h".
 *
 * Linux has them in posix/port.c (memory: posix/memory.c), boards in bare/bare.c; their link is in uart.c of each
 * port or in bare/semihosting.c.
 *
 * port_arch.h defines SC_RAM_BASE and SC_RAM_SIZE (the addresses the taint map covers; the size a multiple of 32;
 * boards define them by their profile), SC_INPUT_CAPACITY (bytes of input), SC_CHUNK (largest payload of a TRACE or LOG
 * frame), SC_SHADOW (tainted 32-byte words an opaque call can be compared on exactly), SC_CAPABILITIES and
 * SC_IN_INTERRUPT(). Where nothing protects the stack, SC_STACK_LIMIT: a function entered with a frame below it has
 * overflowed it. */
#ifndef SC_PORT_H
#define SC_PORT_H

#include "port_arch.h"
#include "probe.h"

/* Where the program's stack lies, which grows downwards. */
#ifdef SC_STACK_BASE
#define SC_STACK_TOP (SC_STACK_BASE + SC_STACK_SIZE)
#else
extern sc_u32 __put_stack_base[], __put_stack_top[];
#define SC_STACK_BASE ((sc_uptr)__put_stack_base)
#define SC_STACK_TOP ((sc_uptr)__put_stack_top)
#endif

/* Receive 1 to n bytes; waits. Sends first what sc_port_write still holds. Never returns if the link is closed. */
sc_u32 sc_port_read(sc_u8 *to, sc_u32 n);

/* Send n bytes, now, at the next read or at the next push. */
void sc_port_write(const sc_u8 *from, sc_u32 n);

/* Send what sc_port_write still holds. */
void sc_port_push(void);

/* Bring the program's writable memory back to what it was before the first test. */
void sc_port_restore(void);

/* Run sc_program() on the program's own stack until sc_port_stop(); afterwards report captured output by sc_log. */
void sc_port_run(sc_u32 watchdog_ms);

/* Leave the program: sc_port_run returns. Called in the program's context. */
void sc_port_stop(void) __attribute__((noreturn));

#ifdef SC_SNAPSHOTS
/* Where the program is: its registers. */
typedef struct {
    sc_uptr registers[8];
} sc_mark;

/* Note that, and call `then` on a stack of the runtime's own: below the program's stack pointer lies what the program
 * left there. Called in the program's context. Returns once more whenever the program goes on there. */
void sc_port_mark(sc_mark *mark, void (*then)(void));

/* As sc_port_run, but the program goes on where it was, in memory as it was. */
void sc_port_go_on(const sc_mark *mark, sc_u32 watchdog_ms);

/* Keep (sc_keep) what of the program's memory is not as sc_port_restore leaves it. The program is where `mark` says.
 * Returns how many bytes it has looked at, or 0: that cannot be. */
sc_u32 sc_port_keep(const sc_mark *mark);
#endif

/* Start the whole instance again; returns only if that is the host's business. */
void sc_port_reset(void);

/* A watch-dog of the board's that runs already is fed where time may pass: at every SC_FEED_EVERY-th branch, and in the
 * port where it waits. */
#ifdef SC_FEED
#define SC_FEED_EVERY 256u
void sc_port_feed(void);
#define SC_FEED_NOW() sc_port_feed()
#define SC_FEED_AT(branches) do { if ((branches) % SC_FEED_EVERY == 0) sc_port_feed(); } while (0)
#else
#define SC_FEED_NOW() ((void)0)
#define SC_FEED_AT(branches) ((void)0)
#endif

/* Bytes that a program's heap can have, for READY. */
sc_u32 sc_port_free_ram(void);

/* So many more of them, right behind those given before in this test; null: that many there are not. */
sc_u8 *sc_port_more(sc_size n);

#endif
