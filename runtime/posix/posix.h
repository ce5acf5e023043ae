/* What the ports for Linux share, and what each of them adds: switch.S, and the registers of a signal (context.h). */
#ifndef SC_POSIX_H
#define SC_POSIX_H

#include <stdint.h>

#include "state.h"

/* The build step says so (image/contained.py) if nothing that the program's objects name can change its process:
 * descriptors, signals, limits. Then these are set up once. A program that may change them finds them new in each
 * test. */
extern const char sc_self_contained[] __attribute__((weak));
#define SELF_CONTAINED (sc_self_contained != 0)

#define SC_MOST_WRITTEN ((sc_size)16u << 20) /* bytes that a test may write to a file */

void sc_posix_memory_init(void);
void sc_posix_memory_restore(void);
unsigned sc_posix_use_stack(uintptr_t at); /* something is read or written there; 1: now it can be */
void sc_posix_signals_init(void);
void sc_posix_signals_restore(void);
void sc_posix_watch(sc_u32 milliseconds);  /* a test begins, and may take so long */
void sc_posix_watch_ends(void);
/* the descriptor of a file in memory: output of a program that may do as it likes with it */
void sc_posix_output_init(int memory);
void sc_posix_output_begin(void);
void sc_posix_output_send(void);
void sc_posix_output_keep(void);
void sc_posix_confine(void);
void sc_posix_die(const char *why) __attribute__((noreturn));

extern void *sc_posix_saved_sp;         /* the runtime's stack while the program runs */

/* The port's. */
void sc_posix_enter(void *stack_top, void **saved_sp); /* run sc_program on that stack; returns at sc_posix_leave */
#ifdef SC_SNAPSHOTS
void sc_posix_go_on(const sc_mark *mark, void **saved_sp); /* the same, but the program goes on there */
#endif
void sc_posix_leave(void *saved_sp) __attribute__((noreturn));
void sc_posix_landing(void);            /* where a signal handler returns to, with the stack pointer at saved_sp */

#endif
