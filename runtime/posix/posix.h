/* What the ports for Linux share, and what each of them adds: switch.S, and the registers of a signal (context.h). */
#ifndef SC_POSIX_H
#define SC_POSIX_H

#include "state.h"

void sc_posix_memory_init(void);
void sc_posix_memory_restore(void);
void sc_posix_signals_init(void);
void sc_posix_signals_restore(void);
void sc_posix_confine(void);
void sc_posix_die(const char *why) __attribute__((noreturn));

extern void *sc_posix_saved_sp;         /* the runtime's stack while the program runs */

/* The port's. */
void sc_posix_enter(void *stack_top, void **saved_sp); /* run sc_program on that stack; returns at sc_posix_leave */
void sc_posix_leave(void *saved_sp) __attribute__((noreturn));
void sc_posix_landing(void);            /* where a signal handler returns to, with the stack pointer at saved_sp */

#endif
