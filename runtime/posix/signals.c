/* Linux: faults and the watch-dog become verdicts.
 *
 * The handler runs on its own stack, records what happened and rewrites the context so that the kernel returns to
 * the test loop. A fault while the runtime itself runs is a bug of ours: the process dies and the host sees it. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>

#include "context.h"
#include "posix.h"

#define NULL_PAGE 0x10000u
#define TICKS 8u /* of the watch-dog's time */

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGALRM};
static char memory[65536] SC_RUNTIME_DATA;
static stack_t alternate SC_RUNTIME_DATA;
static struct sigaction action SC_RUNTIME_DATA;

/* A timer that is set for each test is two calls of the kernel's. One that ticks on does as well, if nothing in the
 * program notices: a program that is self-contained does not sleep. */
static struct {
    sc_u32 set;               /* milliseconds that it was set for */
    volatile sc_u32 ticks;    /* since the test began */
} watch SC_RUNTIME_DATA;

static void set_timer(sc_u32 milliseconds, sc_u32 again)
{
    struct itimerval timer;
    memset(&timer, 0, sizeof timer);
    timer.it_value.tv_sec = (time_t)(milliseconds / 1000u);
    timer.it_value.tv_usec = (suseconds_t)(milliseconds % 1000u * 1000u);
    if (again) timer.it_interval = timer.it_value;
    setitimer(ITIMER_REAL, &timer, 0);
}

void sc_posix_watch(sc_u32 milliseconds)
{
    watch.ticks = 0;
    if (!SELF_CONTAINED) {
        set_timer(milliseconds, 0);
    } else if (milliseconds != watch.set) {
        set_timer(milliseconds / TICKS + (milliseconds != 0), 1);
        watch.set = milliseconds;
    }
}

void sc_posix_watch_ends(void)
{
    watch.ticks = 0; /* none of this test's is counted to the next one */
    if (!SELF_CONTAINED) set_timer(0, 0);
}

/* Whether this tick ends the test: the first one came early. */
static int time_is_up(void)
{
    return !SELF_CONTAINED || ++watch.ticks > TICKS;
}

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
    if (number == SIGSEGV && !was_sent(info) && sc_posix_use_stack((uintptr_t)info->si_addr)) return;
    if (number == SIGALRM && !(sc.running && time_is_up())) return; /* the test may have ended just before */
    if (!sc.running) {
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
