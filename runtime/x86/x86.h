/* What the native port's files share. */
#ifndef SC_X86_H
#define SC_X86_H

#include "state.h"

void sc_x86_memory_init(void);
void sc_x86_memory_restore(void);
void sc_x86_signals_init(void);
void sc_x86_signals_restore(void);
void sc_x86_die(const char *why) __attribute__((noreturn));

/* switch.S */
void sc_x86_enter(void *stack_top, void **saved_sp); /* run sc_program on that stack; returns at sc_x86_leave */
void sc_x86_leave(void *saved_sp) __attribute__((noreturn));
void sc_x86_landing(void);

extern void *sc_x86_saved_sp;

#endif
