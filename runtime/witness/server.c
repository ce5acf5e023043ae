/* server.c: makes of a plain program, built with gcc's sanitizers, one process that runs many inputs.
 *
 * It is linked with the program and begins before any of the program's code, constructors included. Requests come on
 * descriptor 0: the length of an input (32 bits) and its bytes. For each a child is forked, which returns from here and
 * so runs the whole program; what a sanitizer prints in it is collected in shared memory, which no closed descriptor
 * can harm. Descriptor 1 takes the answers (struct answer, then the text). End of file on descriptor 0 is the end.
 *
 * Where a report's addresses are in the source the sanitizers read from the debug information (80 ms): each child for
 * itself, until there was a first report; then once here, for all that follow. Before, a fork is cheaper without.
 *
 * A program may define functions of the names of system calls (firmware has a `write` of its own): so calls of the
 * kernel go by number here. Nothing of the probe runtime is linked. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAGIC 0x32574353u            /* SCW2 */
#define MOST_INPUT 65536u
#define MOST_TEXT (1u << 16)         /* of a report; what comes after is dropped */
#define STACK_BYTES (64ul << 20)     /* frames are several times larger than without sanitizers */
#define FILE_BYTES (16ul << 20)      /* that a test may write to one file */
#define LOOK_NANOSECONDS 20000000    /* between two looks at a child that does not end */
#define NOTHING 2                    /* /dev/null, to read and to write: the host opened it */
#ifdef __x86_64__
#define OWN_WAY AUDIT_ARCH_X86_64
#else
#define OWN_WAY AUDIT_ARCH_I386
#endif
#define OUT_OF_TIME 1u
#define OUT_OF_MEMORY 2u

#ifndef SC_WITNESS_MILLISECONDS
#define SC_WITNESS_MILLISECONDS 1000 /* a test may take */
#endif
#define REPORT_MILLISECONDS 4000     /* more, once it reports: a deep stack takes its time on a busy machine */
#ifndef SC_WITNESS_MEBIBYTES
#define SC_WITNESS_MEBIBYTES 1024    /* a test may have resident */
#endif

struct hello {
    uint32_t magic, zero;
    uint64_t begin, end; /* where the program lies */
};

struct answer {
    uint32_t status; /* as wait() has it */
    uint32_t killed; /* OUT_OF_… */
    uint32_t microseconds;
    uint32_t used;   /* bytes of the input */
    uint32_t layout; /* names the objects that got it, and their order */
    uint32_t length; /* of the text that follows */
};

struct report {
    uint32_t used, layout, length;
    uint32_t has_begun; /* that of a fault: a warning is none */
    char text[MOST_TEXT];
};

extern char __executable_start[], _end[];
extern __attribute__((weak)) unsigned char __score_stdin[];
extern __attribute__((weak)) size_t __score_stdin_at;

static unsigned char input[MOST_INPUT];
static size_t input_size, input_at;
static struct report *report;
static long stdin_file; /* of a whole program: each test writes its own into it */

const char *__asan_default_options(void);
const char *__asan_locate_address(void *at, char *name, size_t room, void **begin, size_t *size);
void __asan_poison_memory_region(const volatile void *begin, size_t size);
const char *__ubsan_default_options(void);
void __sanitizer_on_print(const char *text);
void __sanitizer_symbolize_pc(void *pc, const char *format, char *out, size_t size);

/* malloc gives a null pointer where ours does: what a test asks for beyond 128 MiB is not there. */
const char *__asan_default_options(void)
{
    return "detect_leaks=0:detect_odr_violation=0:allocator_may_return_null=1:max_allocation_size_mb=128:handle_abort=0:"
           "handle_sigill=0:handle_sigfpe=1:print_legend=0:print_cmdline=0:color=never:symbolize=1:malloc_context_size=4:"
           "fast_unwind_on_fatal=0:detect_stack_use_after_return=1:exitcode=99";
}

const char *__ubsan_default_options(void)
{
    return "print_stacktrace=1:halt_on_error=1:color=never:symbolize=1:exitcode=99";
}

/* Called by the sanitizers with every piece of text that they print. */
void __sanitizer_on_print(const char *text)
{
    if (!report) return;
    if (strstr(text, "ERROR: ") || strstr(text, "runtime error: ")) report->has_begun = 1;
    while (*text && report->length < MOST_TEXT) report->text[report->length++] = *text++;
}

static void leave(int status)
{
    for (;;) syscall(SYS_exit_group, status);
}

static void read_all(void *to, size_t size)
{
    unsigned char *at = to;
    while (size) {
        long n = syscall(SYS_read, 0, at, size);
        if (n <= 0) leave(0);
        at += n;
        size -= (size_t)n;
    }
}

static void write_all(const void *from, size_t size)
{
    const unsigned char *at = from;
    while (size) {
        long n = syscall(SYS_write, 1, at, size);
        if (n <= 0) leave(0);
        at += n;
        size -= (size_t)n;
    }
}

static uint64_t microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Addresses are the same in every test and every session, where the kernel lets us: then so are reports. */
static void same_addresses(char **argv, char **environment)
{
    int now = personality(0xffffffff);
    if (now == -1 || (now & ADDR_NO_RANDOMIZE)) return;
    if (personality((unsigned long)now | ADDR_NO_RANDOMIZE) == -1) return;
    if (personality(0xffffffff) & ADDR_NO_RANDOMIZE) syscall(SYS_execve, "/proc/self/exe", argv, environment);
}

static void limit(int what, rlim_t most)
{
    struct rlimit limits;
    if (getrlimit(what, &limits)) return;
    limits.rlim_cur = limits.rlim_max == RLIM_INFINITY || limits.rlim_max > most ? most : limits.rlim_max;
    setrlimit(what, &limits);
}

static unsigned long resident_mebibytes(long child)
{
    char name[32] = "/proc/", text[64];
    char digits[16];
    int n = 0, at = 6;
    long file, got;
    unsigned long pages = 0;
    do digits[n++] = (char)('0' + child % 10); while ((child /= 10));
    while (n) name[at++] = digits[--n];
    strcpy(name + at, "/statm");
    file = syscall(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    got = syscall(SYS_read, file, text, sizeof text - 1);
    syscall(SYS_close, file);
    if (got <= 0) return 0;
    text[got] = 0;
    for (at = 0; text[at] && text[at] != ' '; at++) continue; /* past the size */
    while (text[at] == ' ') at++;
    while (text[at] >= '0' && text[at] <= '9') pages = pages * 10 + (unsigned long)(text[at++] - '0');
    return pages / 256;
}

/* A report that is cut off would name no place. */
static uint64_t most_microseconds(void)
{
    return (SC_WITNESS_MILLISECONDS + (report->has_begun ? REPORT_MILLISECONDS : 0)) * (uint64_t)1000;
}

/* Wait for the child's end, or bring it about. */
static void watch(long child, uint64_t began, const sigset_t *ended, struct answer *answer)
{
    static const struct timespec look = {0, LOOK_NANOSECONDS};
    int status = 0;
    while (syscall(SYS_wait4, child, &status, WNOHANG, 0) != child) {
        if (sigtimedwait(ended, 0, &look) != -1) continue;
        if (microseconds() - began > most_microseconds()) answer->killed = OUT_OF_TIME;
        else if (resident_mebibytes(child) > SC_WITNESS_MEBIBYTES) answer->killed = OUT_OF_MEMORY;
        else continue;
        syscall(SYS_kill, child, SIGKILL);
        syscall(SYS_wait4, child, &status, 0, 0);
        break;
    }
    syscall(SYS_kill, -child, SIGKILL); /* what it started */
    answer->status = (uint32_t)status;
    answer->microseconds = (uint32_t)(microseconds() - began);
}

static int reads_stdin(void)
{
    return &__score_stdin_at != 0;
}

/* The server forks and ends what it forked; a test does neither. Nothing to do for a server that is not confined. */
static void confine_test(void)
{
    enum { REFUSED = SECCOMP_RET_ERRNO | EPERM };
    uint32_t own = (uint32_t)syscall(SYS_getpid);
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_WAY, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, REFUSED),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 11, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fork, 10, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_vfork, 9, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 8, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_setpgid, 7, 0), /* into the server's group, to signal it */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigqueueinfo, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_kill, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, own, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, REFUSED),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof steps / sizeof steps[0], steps};
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) return;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) leave(1);
}

/* The test sees no more of the server than its input. */
static void become_test(const sigset_t *before)
{
    syscall(SYS_setpgid, 0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    syscall(SYS_dup3, NOTHING, 0, 0);
    syscall(SYS_dup3, NOTHING, 1, 0);
    if (!reads_stdin()) syscall(SYS_close, stdin_file);
    sigprocmask(SIG_SETMASK, before, 0);
    confine_test();
}

/* Before the program's constructors (65535, or what they ask for), after those of the sanitizers. */
static void __attribute__((constructor(101))) serve(int argc, char **argv, char **environment)
{
    struct hello hello = {MAGIC, 0, (uintptr_t)__executable_start, (uintptr_t)_end};
    sigset_t ended, before;
    int has_read = 0;
    (void)argc;
    same_addresses(argv, environment);
    limit(RLIMIT_STACK, STACK_BYTES);
    limit(RLIMIT_FSIZE, FILE_BYTES);
    limit(RLIMIT_CORE, 0);
    report = mmap(0, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (report == MAP_FAILED) leave(1);
    stdin_file = syscall(SYS_memfd_create, "stdin", 0);
    if (stdin_file < 0) leave(1);
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ended, &before);
    write_all(&hello, sizeof hello);
    for (;;) {
        struct answer answer = {0, 0, 0, 0, 0, 0};
        uint32_t size;
        uint64_t began;
        long child;
        read_all(&size, sizeof size);
        if (size > MOST_INPUT) leave(1);
        read_all(input, size);
        input_size = size;
        report->used = report->layout = report->length = report->has_begun = 0;
        began = microseconds();
        child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (child < 0) leave(1);
        if (!child) {
            become_test(&before);
            return;
        }
        watch(child, began, &ended, &answer);
        answer.used = report->used;
        answer.layout = report->layout;
        answer.length = report->length <= MOST_TEXT ? report->length : 0;
        write_all(&answer, sizeof answer);
        write_all(report->text, answer.length);
        if (answer.length && !has_read) {
            char place[64];
            __sanitizer_symbolize_pc((void *)(uintptr_t)serve, "%l", place, sizeof place);
            has_read = 1;
        }
    }
}

/* --- what score.h declares: the input as the probe runtime gives it, and the ends of a test --- */

void __score_symbolic(volatile void *object, size_t size, const char *name);
void __score_boolean(volatile void *object, size_t size, const char *name);
void __score_bytes(volatile void *object, size_t size, const char *name);
void __score_text(volatile void *object, size_t size, const char *name);
void __score_sized(const volatile void *object, const size_t *bytes);
void __score_assume_fail(void) __attribute__((noreturn));
void __score_assert_fail(const char *condition, const char *file, int line) __attribute__((noreturn));

static unsigned char next(void)
{
    return input_at < input_size ? input[input_at++] : 0;
}

static void mix(uint32_t value)
{
    report->layout = (report->layout ^ value) * 16777619u; /* as FNV does */
}

/* That an object got its part of the input. */
static void note(size_t size, const char *name)
{
    report->used = (uint32_t)input_at;
    mix((uint32_t)size + 0x100u);
    while (name && *name) mix((unsigned char)*name++);
}

/* A whole program reads its standard input itself. */
static void give_stdin(const unsigned char *from, size_t size)
{
    syscall(SYS_ftruncate, stdin_file, 0);
    syscall(SYS_lseek, stdin_file, 0, SEEK_SET);
    while (size) {
        long n = syscall(SYS_write, stdin_file, from, size);
        if (n <= 0) break;
        from += n;
        size -= (size_t)n;
    }
    syscall(SYS_lseek, stdin_file, 0, SEEK_SET);
    syscall(SYS_dup3, stdin_file, 0, 0);
    syscall(SYS_close, stdin_file);
}

void __score_bytes(volatile void *object, size_t size, const char *name)
{
    volatile unsigned char *to = object;
    size_t i;
    for (i = 0; i < size; i++) to[i] = next();
    note(size, name);
    if (&__score_stdin_at && to == __score_stdin + __score_stdin_at) give_stdin(__score_stdin + __score_stdin_at, size);
}

void __score_symbolic(volatile void *object, size_t size, const char *name)
{
    __score_bytes(object, size, name); /* numbers have the low byte first, as the processor does */
}

void __score_boolean(volatile void *object, size_t size, const char *name)
{
    volatile unsigned char *to = object;
    size_t i;
    for (i = 0; i < size; i++) to[i] = 0;
    if (size) to[0] = next() & 1;
    note(size, name);
}

void __score_text(volatile void *object, size_t size, const char *name)
{
    __score_bytes(object, size, name);
}

/* What lies behind so many bytes is not the object's, although there is room: the sanitizer is told so. */
void __score_sized(const volatile void *object, const size_t *bytes)
{
    uintptr_t from = (uintptr_t)object + *bytes, end;
    char name[1];
    void *begin = 0;
    size_t size = 0;
    __asan_locate_address((void *)(uintptr_t)object, name, sizeof name, &begin, &size);
    end = (uintptr_t)begin + size;
    if (begin && from < end) __asan_poison_memory_region((void *)from, end - from);
}

void __score_assume_fail(void)
{
    for (;;) leave(0);
}

void __score_assert_fail(const char *condition, const char *file, int line)
{
    (void)condition, (void)file, (void)line;
    for (;;) leave(0);
}
