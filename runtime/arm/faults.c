/* Cortex-M: faults become verdicts. What makes them happen is in protect.c.
 *
 * The program runs on PSP in thread mode. Every fault handler records what the status registers say and leaves
 * through a made-up exception frame to the test loop. A fault anywhere else is a bug of ours or of an interrupt
 * handler: the board resets itself, and the host, seeing an unexpected READY, judges the test lost. */
#include "arm.h"

#define CFSR 0xE000ED28u
#define HFSR 0xE000ED2Cu
#define MMFAR 0xE000ED34u
#define BFAR 0xE000ED38u
#define AIRCR 0xE000ED0Cu

#define BELOW_STACK 0x1000u /* a frame that misses the stack by so much is still called an overflow */

/* CFSR bits */
#define MM_STACKING (1u << 4)
#define MM_VALID (1u << 7)
#define BUS_ANY 0x0000FF00u
#define BUS_STACKING (1u << 12)
#define BUS_VALID (1u << 15)
#define USAGE_STATE (1u << 17)
#define USAGE_UNALIGNED (1u << 24)
#define USAGE_DIVISION (1u << 25)

void sc_arm_exit_handler(sc_u32 *saved_sp) __attribute__((noreturn));
void sc_arm_on_fault(const sc_u32 *frame, sc_u32 exc_return);

static const sc_u32 *valid(const sc_u32 *frame)
{
    return frame >= __put_stack_base && frame + 8 <= __put_stack_top ? frame : 0;
}

#if defined __ARM_ARCH_6M__ /* one fault for everything, and nothing says why: the instruction must */

static sc_u32 status(void)
{
    return 0;
}

static sc_u32 verdict_of(sc_u32 cfsr, const sc_u32 *frame, const sc_u32 *psp)
{
    const sc_u32 undefined = 0xDE00u;
    (void)cfsr;
    if (psp < __put_stack_base + 8) return SC_VERDICT_STACK_OVERFLOW;
    if (!frame || frame[6] - SC_FLASH_BASE >= SC_FLASH_SIZE) return SC_VERDICT_INVALID_MEMORY_ACCESS;
    if ((*(const sc_d *)frame[6] & 0xFF00u) == undefined) return SC_VERDICT_ILLEGAL_INSTRUCTION;
    return SC_VERDICT_INVALID_MEMORY_ACCESS;
}

#else

/* What CFSR says, which is cleared; the address goes into sc. */
static sc_u32 status(void)
{
    sc_u32 cfsr = REGISTER(CFSR);
    sc.address = cfsr & MM_VALID ? REGISTER(MMFAR) : cfsr & BUS_VALID ? REGISTER(BFAR) : 0;
    REGISTER(CFSR) = cfsr;
    REGISTER(HFSR) = REGISTER(HFSR);
    return cfsr;
}

static sc_u32 verdict_of(sc_u32 cfsr, const sc_u32 *frame, const sc_u32 *psp)
{
    sc_u32 pc = frame ? frame[6] : 0, at = (sc_u32)sc.address;
    if (cfsr & (MM_STACKING | BUS_STACKING)) return SC_VERDICT_STACK_OVERFLOW;
    if (psp < __put_stack_base) return SC_VERDICT_STACK_OVERFLOW;
    if ((cfsr & (MM_VALID | BUS_VALID)) && (sc_u32)__put_stack_base - at - 1u < BELOW_STACK)
        return SC_VERDICT_STACK_OVERFLOW;
    if (cfsr & USAGE_DIVISION) return SC_VERDICT_DIVISION_BY_ZERO;
    if (cfsr & (MM_VALID | BUS_VALID))
        return at < SC_NULL_PAGE ? SC_VERDICT_NULL_DEREFERENCE : SC_VERDICT_INVALID_MEMORY_ACCESS;
    if (frame && pc < SC_NULL_PAGE) return SC_VERDICT_NULL_DEREFERENCE; /* called through a null pointer */
    if (cfsr & (0xFFu | BUS_ANY | USAGE_UNALIGNED | USAGE_STATE)) return SC_VERDICT_INVALID_MEMORY_ACCESS;
    return SC_VERDICT_ILLEGAL_INSTRUCTION;
}

#endif

static void leave(const sc_u32 *frame, sc_u32 verdict)
{
    sc.verdict = verdict;
    sc.pc = frame ? (frame[6] < SC_NULL_PAGE ? frame[5] & ~1u : frame[6]) : 0;
    sc.running = 0;
    sc_arm_exit_handler(sc_bare_saved_sp);
}

void sc_arm_on_fault(const sc_u32 *psp, sc_u32 exc_return)
{
    sc_u32 cfsr = status();
    const sc_u32 *frame = cfsr & (MM_STACKING | BUS_STACKING) ? 0 : valid(psp);
    if (!sc.running || !SC_TO_PROGRAM(exc_return)) sc_port_reset();
    sc.code = (sc_i32)cfsr;
    leave(frame, verdict_of(cfsr, frame, psp));
}

void sc_arm_leave(const sc_u32 *psp, sc_u32 verdict)
{
    leave(valid(psp), verdict);
}

void sc_port_reset(void)
{
    __asm__ volatile("dsb" ::: "memory");
    REGISTER(AIRCR) = 0x05FA0004u;
    for (;;) {}
}
