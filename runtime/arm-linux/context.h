/* ARM: the registers of the code that a signal interrupted. */
#ifndef SC_CONTEXT_H
#define SC_CONTEXT_H

#include <stdint.h>
#include <ucontext.h>

static inline uintptr_t sc_context_pc(const ucontext_t *c)
{
#ifdef __aarch64__
    return (uintptr_t)c->uc_mcontext.pc;
#else
    return (uintptr_t)c->uc_mcontext.arm_pc;
#endif
}

static inline uintptr_t sc_context_sp(const ucontext_t *c)
{
#ifdef __aarch64__
    return (uintptr_t)c->uc_mcontext.sp;
#else
    return (uintptr_t)c->uc_mcontext.arm_sp;
#endif
}

/* Where a call to nowhere came from. */
static inline uintptr_t sc_context_caller(const ucontext_t *c)
{
#ifdef __aarch64__
    return (uintptr_t)c->uc_mcontext.regs[30];
#else
    return (uintptr_t)c->uc_mcontext.arm_lr & ~(uintptr_t)1u;
#endif
}

#define SC_THUMB_STATE 0x0600FC20u /* of CPSR: Thumb, and how much of an IT block is left */

/* Go on at `pc`, which is ARM code, with that stack pointer. */
static inline void sc_context_land(ucontext_t *c, void (*pc)(void), void *sp)
{
#ifdef __aarch64__
    c->uc_mcontext.pc = (uintptr_t)pc;
    c->uc_mcontext.sp = (uintptr_t)sp;
#else
    c->uc_mcontext.arm_pc = (unsigned long)pc;
    c->uc_mcontext.arm_sp = (unsigned long)sp;
    c->uc_mcontext.arm_cpsr &= ~(unsigned long)SC_THUMB_STATE;
#endif
}

#endif
