/* RISC-V: traps and the watch-dog become verdicts; locked PMP entries bind machine mode too and make bad accesses trap.
 *
 * A trap anywhere but in the program is a bug of ours or of an interrupt handler: the board resets itself, and the
 * host, seeing an unexpected READY, judges the test lost. (The RISC-V Instruction Set Manual, volume II.) */
#include "riscv.h"

#define BELOW_STACK 0x1000u /* a frame that misses the stack by so much is still called an overflow */
#define TIMER_INTERRUPT 0x80000007u
#define MTIMECMP (SC_CLINT + 0x4000u)
#define MTIME (SC_CLINT + 0xBFF8u)

enum {
    FETCH_MISALIGNED,
    FETCH_ACCESS,
    ILLEGAL,
    BREAKPOINT,
    LOAD_MISALIGNED,
    LOAD_ACCESS,
    STORE_MISALIGNED,
    STORE_ACCESS
};

void sc_riscv_on_trap(sc_u32 sp);

static sc_u32 verdict_of(sc_u32 cause, sc_u32 pc, sc_u32 at, sc_u32 sp)
{
    sc_u32 base = (sc_u32)__put_stack_base;
    switch (cause) {
    case ILLEGAL:
    case BREAKPOINT:
        return SC_VERDICT_ILLEGAL_INSTRUCTION;
    case FETCH_MISALIGNED:
    case FETCH_ACCESS:
        return pc < SC_NULL_PAGE ? SC_VERDICT_NULL_DEREFERENCE : SC_VERDICT_INVALID_MEMORY_ACCESS;
    default:
        if (base - at - 1u < BELOW_STACK || sp < base) return SC_VERDICT_STACK_OVERFLOW;
        return at < SC_NULL_PAGE ? SC_VERDICT_NULL_DEREFERENCE : SC_VERDICT_INVALID_MEMORY_ACCESS;
    }
}

void sc_riscv_on_trap(sc_u32 sp)
{
    sc_u32 cause = READ_CSR(mcause), at = READ_CSR(mtval), pc = READ_CSR(mepc);
    if (!sc.running) sc_port_reset();
    sc_bare_watch(0);
    if (cause == TIMER_INTERRUPT) {
        sc.verdict = SC_VERDICT_WATCHDOG;
    } else {
        sc.code = (sc_i32)cause;
        sc.address = cause == ILLEGAL || cause == BREAKPOINT ? 0 : at;
        sc.verdict = verdict_of(cause, pc, at, sp);
    }
    sc.pc = pc;
    sc.running = 0;
    WRITE_CSR(mscratch, sc_bare_saved_sp);
    sc_bare_leave(sc_bare_saved_sp);
}

static sc_u64 watch_end SC_RUNTIME_DATA; /* what MTIMECMP was set to */

/* A timer that is set wakes an emulator's main loop, which takes as long as a small test: so it is set for up to an
 * eighth longer, and again only when that has passed. */
void sc_bare_watch(sc_u32 milliseconds)
{
    sc_u64 now = (sc_u64)REGISTER(MTIME + 4u) << 32, patience = (sc_u64)milliseconds * (SC_CLINT_HZ / 1000u), left;
    now |= REGISTER(MTIME);
    left = watch_end - now;
    WRITE_CSR(mie, 0);
    if (!milliseconds) return;
    if (left < patience || left > patience + patience / 8u || REGISTER(MTIMECMP) != (sc_u32)watch_end ||
        REGISTER(MTIMECMP + 4u) != (sc_u32)(watch_end >> 32)) {
        watch_end = now + patience + patience / 8u;
        REGISTER(MTIMECMP + 4u) = 0xFFFFFFFFu;
        REGISTER(MTIMECMP) = (sc_u32)watch_end;
        REGISTER(MTIMECMP + 4u) = (sc_u32)(watch_end >> 32);
    }
    WRITE_CSR(mie, 1u << 7);
}

enum { R = 1, W = 2, X = 4, NAPOT = 3 << 3, LOCKED = 1 << 7 };

#define AREA(base, size) ((base) >> 2 | ((size) >> 3) - 1u) /* size: a power of two, the base a multiple of it */

void sc_bare_protect(void)
{
    if (READ_CSR(pmpcfg0)) return; /* locked until the next reset */
    WRITE_CSR(pmpaddr0, AREA(0u, SC_NULL_PAGE));
    WRITE_CSR(pmpaddr1, AREA(SC_FLASH_BASE, SC_FLASH_SIZE));
    WRITE_CSR(pmpaddr2, AREA(SC_RAM_BASE, SC_RAM_SIZE));
    WRITE_CSR(pmpcfg0, (NAPOT | LOCKED) | (R | X | NAPOT | LOCKED) << 8 | (R | W | NAPOT | LOCKED) << 16);
}

void sc_port_reset(void)
{
#ifdef SC_RESET_AT
    REGISTER(SC_RESET_AT) = SC_RESET_VALUE;
#endif
    for (;;) {}
}
