/* Linux: faults and the watch-dog become verdicts.
 *
 * The handler runs on its own stack, records what happened and rewrites the context so that the kernel returns to
 * the test loop. A fault while the runtime itself runs is a bug of ours: the process dies and the host sees it. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>

#include "context.h"
#include "posix.h"

#define NULL_PAGE 0x10000u

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGALRM};
static char memory[65536] SC_RUNTIME_DATA;
static stack_t alternate SC_RUNTIME_DATA;
static struct sigaction action SC_RUNTIME_DATA;

/* By raise() or kill(): then there is no address. */
static int was_sent(const siginfo_t *info)
{
    return info->si_code <= 0;
}

static uint32_t memory_verdict(const siginfo_t *info, uintptr_t pc, uintptr_t sp)
{
    uintptr_t at = (uintptr_t)info->si_addr;
    if (was_sent(info)) return SC_VERDICT_INVALID_MEMORY_ACCESS;
    if (info->si_signo == SIGSEGV && info->si_code == SI_KERNEL) return SC_VERDICT_INVALID_MEMORY_ACCESS;
    if ((at >= SC_GUARD_BASE && at < SC_STACK_BASE) || sp < SC_STACK_BASE) return SC_VERDICT_STACK_OVERFLOW;
    if (at < NULL_PAGE || pc < NULL_PAGE) return SC_VERDICT_NULL_DEREFERENCE;
    return SC_VERDICT_INVALID_MEMORY_ACCESS;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    ucontext_t *c = context;
    uintptr_t pc = sc_context_pc(c), sp = sc_context_sp(c);
    if (!sc.running) {
        if (number == SIGALRM) return; /* the test ended just before its time was up */
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    sc.address = (number == SIGSEGV || number == SIGBUS) && !was_sent(info) ? (sc_u64)(uintptr_t)info->si_addr : 0;
    sc.code = number;
    switch (number) {
    case SIGFPE: sc.verdict = SC_VERDICT_DIVISION_BY_ZERO; break;
    case SIGABRT: sc.verdict = SC_VERDICT_ABORT; break;
    case SIGALRM: sc.verdict = SC_VERDICT_WATCHDOG; break;
    case SIGSEGV:
    case SIGBUS: sc.verdict = memory_verdict(info, pc, sp); break;
    default: sc.verdict = SC_VERDICT_ILLEGAL_INSTRUCTION;
    }
    /* A call through a null pointer: the place of interest is the caller. */
    if (pc < NULL_PAGE && sp >= SC_STACK_BASE && sp < SC_STACK_BASE + SC_STACK_SIZE) pc = sc_context_caller(c);
    sc.pc = pc;
    sc.running = 0;
    sc_context_land(c, sc_posix_landing, sc_posix_saved_sp);
    sigemptyset(&c->uc_sigmask);
}

/* The program may have set handlers of its own in the test before, blocked signals, taken away the stack for them. */
void sc_posix_signals_restore(void)
{
    sigset_t none;
    unsigned i;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, 0);
    if (sigaltstack(&alternate, 0)) sc_posix_die("sigaltstack failed");
    for (i = 0; i < sizeof signals / sizeof signals[0]; i++) sigaction(signals[i], &action, 0);
}

void sc_posix_signals_init(void)
{
    alternate.ss_sp = memory;
    alternate.ss_size = sizeof memory;
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    signal(SIGXFSZ, SIG_IGN); /* too much output: write() fails instead */
    signal(SIGPIPE, SIG_IGN);
    sc_posix_signals_restore();
}
