/* x86: the registers of the code that a signal interrupted. */
#ifndef SC_CONTEXT_H
#define SC_CONTEXT_H

#include <stdint.h>
#include <ucontext.h>

#ifdef __x86_64__
#define SC_PC uc_mcontext.gregs[REG_RIP]
#define SC_SP uc_mcontext.gregs[REG_RSP]
#else
#define SC_PC uc_mcontext.gregs[REG_EIP]
#define SC_SP uc_mcontext.gregs[REG_ESP]
#endif

static inline uintptr_t sc_context_pc(const ucontext_t *c)
{
    return (uintptr_t)c->SC_PC;
}

static inline uintptr_t sc_context_sp(const ucontext_t *c)
{
    return (uintptr_t)c->SC_SP;
}

/* Where a call to nowhere came from. The stack pointer has been looked at: it is one of the program's. */
static inline uintptr_t sc_context_caller(const ucontext_t *c)
{
    return *(const uintptr_t *)sc_context_sp(c);
}

/* Go on at `pc` with that stack pointer. */
static inline void sc_context_land(ucontext_t *c, void (*pc)(void), void *sp)
{
    c->SC_PC = (greg_t)(uintptr_t)pc;
    c->SC_SP = (greg_t)(uintptr_t)sp;
}

#endif
