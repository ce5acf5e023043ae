/* Linux: what a test may not do to the tests after it.
 *
 * The host has confined this process before its first instruction (toolkit/score_embed/confine). What is refused here,
 * from the first test on, would harm nobody but the process itself: limits, timers and modes that the runtime does not
 * restore, files in memory that nobody sees. An emulator has no such filters; there a test may change what those after
 * it find. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "posix.h"

#if defined __x86_64__
#define OWN_WAY AUDIT_ARCH_X86_64
#elif defined __i386__
#define OWN_WAY AUDIT_ARCH_I386
#elif defined __aarch64__
#define OWN_WAY AUDIT_ARCH_AARCH64
#else
#define OWN_WAY AUDIT_ARCH_ARM
#endif

#define REFUSED (SECCOMP_RET_ERRNO | EPERM)
#define STEP(code, value) BPF_STMT((code), (value))
#define NOT(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), STEP(BPF_RET | BPF_K, REFUSED)
#define ARGUMENT(n) STEP(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8u * (n))
#define SAME(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no))

/* The other way of calling the kernel (int 0x80 from 64 bits) is no program's that the compiler makes. */
static const struct sock_filter steps[] = {
    STEP(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
    SAME(OWN_WAY, 1, 0),
    STEP(BPF_RET | BPF_K, REFUSED),
    STEP(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    NOT(setrlimit),
    NOT(memfd_create),
    NOT(chdir),
    NOT(fchdir),
    NOT(setsid),
    NOT(setpgid),
    NOT(timer_create),
    NOT(mlockall),
    NOT(seccomp),
#ifdef SYS_landlock_restrict_self
    NOT(landlock_restrict_self),
#endif
#ifdef SYS_arch_prctl
    NOT(arch_prctl),
#endif
    SAME(SYS_prlimit64, 0, 5), /* to ask is allowed */
    ARGUMENT(2),
    SAME(0, 0, 2),
    STEP(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8u * 2u + 4u),
    SAME(0, 1, 0),
    STEP(BPF_RET | BPF_K, REFUSED),
    STEP(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    NOT(prctl),
    SAME(SYS_setitimer, 0, 3), /* the watch-dog's is set again for each test */
    ARGUMENT(0),
    SAME(0, 1, 0),
    STEP(BPF_RET | BPF_K, REFUSED),
    STEP(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

void sc_posix_confine(void)
{
    struct sock_fprog program = {sizeof steps / sizeof steps[0], (struct sock_filter *)steps};
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) return; /* it is not wanted */
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
