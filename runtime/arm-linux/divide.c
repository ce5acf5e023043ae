/* ARM, 32 bits: division by zero. libgcc's routines call these; a core's own instruction gives 0 and does not trap. */
#ifndef __aarch64__
#include <signal.h>

#include "posix.h"

int __aeabi_idiv0(int quotient);
long long __aeabi_ldiv0(long long quotient);

static void divided_by_zero(const void *back) __attribute__((noreturn));

static void divided_by_zero(const void *back)
{
    sc.pc = (sc_u64)(sc_uptr)back - 2u; /* within the call: what follows may be of another line */
    sc_end(SC_VERDICT_DIVISION_BY_ZERO, SIGFPE);
}

int __aeabi_idiv0(int quotient)
{
    (void)quotient;
    divided_by_zero(__builtin_return_address(0));
}

long long __aeabi_ldiv0(long long quotient)
{
    (void)quotient;
    divided_by_zero(__builtin_return_address(0));
}
#endif
