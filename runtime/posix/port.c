/* Linux: a process as target, perhaps in an emulator of its instructions (qemu-arm …). The host passes the
 * link's two file descriptors as arguments, and a third if there is an emulator.
 *
 * The process ends when the link is closed or the host dies (PR_SET_PDEATHSIG), so that nothing is left behind. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "posix.h"

/* The runtime's own descriptors: beyond what the program can get or is likely to name, so that a stray write or close
 * hits nothing. dup2() to them fails, as does any other call for one of its own that is not below MOST. */
#define LINK_IN (own_descriptors)
#define LINK_OUT (own_descriptors + 1)
#define OUTPUT (own_descriptors + 2)  /* what the program writes to its standard output and error */
#define NOTHING (own_descriptors + 3) /* /dev/null: its standard input */
#define OWN 4
#define ROOM_TO_ABORT 8192u
#define MOST 256u /* of the program */
#define FIRST_OWN 1024

static int own_descriptors SC_RUNTIME_DATA;

void *sc_posix_saved_sp SC_RUNTIME_DATA;

static struct {
    sc_u8 bytes[65536];
    sc_u32 fill;
} out SC_RUNTIME_DATA;

void __real__exit(int status) __attribute__((noreturn));

void sc_posix_die(const char *why)
{
    static const char head[] = "score-embed runtime: ", end[] = "\n";
    if (write(2, head, sizeof head - 1) < 0 || write(2, why, strlen(why)) < 0 || write(2, end, 1) < 0) __real__exit(72);
    __real__exit(71);
}

static void flush(void)
{
    sc_u32 done = 0;
    while (done < out.fill) {
        ssize_t n = write(LINK_OUT, out.bytes + done, out.fill - done);
        if (n > 0) done += (sc_u32)n;
        else if (errno != EINTR) __real__exit(0); /* the host is gone */
    }
    out.fill = 0;
}

void sc_port_push(void)
{
    flush();
}

sc_u32 sc_port_read(sc_u8 *to, sc_u32 n)
{
    flush();
    for (;;) {
        ssize_t got = read(LINK_IN, to, n);
        if (got > 0) return (sc_u32)got;
        if (got == 0 || errno != EINTR) __real__exit(0);
    }
}

void sc_port_write(const sc_u8 *from, sc_u32 n)
{
    while (n) {
        sc_u32 part = sizeof out.bytes - out.fill;
        if (part > n) part = n;
        memcpy(out.bytes + out.fill, from, part);
        out.fill += part;
        from += part;
        n -= part;
        if (out.fill == sizeof out.bytes) flush();
    }
}

static void open_files(void)
{
    int fd;
    if (syscall(SYS_close_range, 3u, MOST - 1u, 0u)) /* before Linux 5.9 */
        for (fd = 3; fd < (int)MOST; fd++) close(fd);
    if (dup2(NOTHING, 0) < 0 || dup2(OUTPUT, 1) < 0 || dup2(OUTPUT, 2) < 0) __real__exit(73);
}

void sc_port_restore(void)
{
    sc_posix_output_begin();
    sc_posix_memory_restore();
    if (SELF_CONTAINED) return;
    sc_posix_signals_restore();
    open_files();
}

static void ended(void)
{
    sc.running = 0;
    sc_posix_watch_ends();
    sc_posix_output_send();
}

void sc_port_run(sc_u32 watchdog_ms)
{
    sc_posix_watch(watchdog_ms);
    sc_posix_enter((void *)(uintptr_t)(SC_STACK_BASE + SC_STACK_SIZE - 64u), &sc_posix_saved_sp);
    ended();
}

#ifdef SC_SNAPSHOTS
void sc_port_go_on(const sc_mark *mark, sc_u32 watchdog_ms)
{
    sc_posix_watch(watchdog_ms);
    sc_posix_go_on(mark, &sc_posix_saved_sp);
    ended();
}
#endif

void sc_port_stop(void)
{
    sc.running = 0;
    sc_posix_leave(sc_posix_saved_sp);
}

/* A process is replaced by its host. */
void sc_port_reset(void)
{
    __real__exit(0);
}

sc_u32 sc_port_free_ram(void)
{
    return SC_HEAP_SIZE;
}

/* _exit, _Exit and exit of the program (linked with --wrap). */
void __wrap__exit(int status)
{
    if (!sc.running) __real__exit(status);
    sc_end(SC_VERDICT_EXIT, status);
}

void __wrap__Exit(int status)
{
    __wrap__exit(status);
}

void __real_abort(void) __attribute__((noreturn));

/* Of the program's or the library's. It asks the kernel to write to the stack, which would not be made usable by
 * that. */
void __wrap_abort(void)
{
    sc_posix_use_stack((uintptr_t)__builtin_frame_address(0) - ROOM_TO_ABORT);
    __real_abort();
}

/* assert() of glibc. The message goes where the program's output goes. */
void __assert_fail(const char *text, const char *file, unsigned line, const char *function)
{
    char digits[12];
    int at = sizeof digits;
    const char *parts[] = {file, ":", digits, ": ", function ? function : "?", ": Assertion `", text, "' failed.\n"};
    unsigned i;
    digits[--at] = 0;
    do digits[--at] = (char)('0' + line % 10u);
    while (line /= 10u);
    parts[2] = digits + at;
    for (i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (write(2, parts[i], strlen(parts[i])) < 0) break;
    /* within the call: what follows may be of another line */
    sc.pc = (sc_u64)(uintptr_t)__builtin_return_address(0) - 2u;
    sc_end(SC_VERDICT_ASSERTION, 0);
}

static int descriptor(const char *text)
{
    int n = 0;
    while (*text >= '0' && *text <= '9') n = n * 10 + (*text++ - '0');
    return n;
}

/* Room for the runtime's descriptors, and for both ends of the link beside them. */
static void make_room(void)
{
    struct rlimit limit;
    rlim_t wanted = FIRST_OWN + 3 * OWN;
    if (getrlimit(RLIMIT_NOFILE, &limit)) sc_posix_die("getrlimit failed");
    if (wanted > limit.rlim_max) wanted = limit.rlim_max;
    own_descriptors = (int)wanted - 3 * OWN;
    if (own_descriptors < (int)MOST) sc_posix_die("too few descriptors are allowed (ulimit -n)");
    limit.rlim_cur = wanted;
    if (setrlimit(RLIMIT_NOFILE, &limit)) sc_posix_die("cannot have as many descriptors as needed");
}

/* Out of the way of the program's own descriptors, which are closed after each test. */
static void take_link(int in, int out_fd)
{
    int fd, after;
    make_room();
    after = own_descriptors + OWN;
    in = fcntl(in, F_DUPFD, after);
    out_fd = fcntl(out_fd, F_DUPFD, after);
    if (in < 0 || out_fd < 0 || dup2(in, LINK_IN) < 0 || dup2(out_fd, LINK_OUT) < 0)
        sc_posix_die("this program is a target of score-embed and is started by it: no link");
    for (fd = after; fd < own_descriptors + 3 * OWN; fd++) close(fd);
    if (syscall(SYS_close_range, MOST, (unsigned)LINK_IN - 1u, 0u))
        for (fd = (int)MOST; fd < LINK_IN; fd++) close(fd);
}

/* A child would be a second target on the same link. Who confines this process is to know that one was wanted: what
 * asks makes none anywhere (a thread that shares nothing is an error). */
static pid_t no_child(void)
{
    syscall(SYS_clone, CLONE_THREAD, 0, 0, 0, 0);
    errno = ENOSYS;
    return -1;
}

pid_t fork(void) { return no_child(); }

pid_t vfork(void) { return no_child(); }

int main(int argc, char **argv)
{
    struct rlimit none = {0, 0}, file = {16u << 20, 16u << 20}, descriptors = {MOST, MOST};
    int fd, mode = personality(0xFFFFFFFFu), emulated = argc == 4;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (argc != 3 && !emulated) sc_posix_die("this program is a target of score-embed and is started by it");
    /* Addresses of the image are fixed anyway; without randomisation the thread's block is too. An emulator does not
     * randomise, and would start this program outside of it. */
    if (!emulated && mode >= 0 && !(mode & ADDR_NO_RANDOMIZE) &&
        personality((unsigned long)mode | ADDR_NO_RANDOMIZE) >= 0)
        execv(argv[0], argv);
    take_link(descriptor(argv[1]), descriptor(argv[2]));
    fd = memfd_create("output", 0);
    if (fd < 0 || dup2(fd, OUTPUT) < 0) sc_posix_die("memfd_create failed");
    fd = open("/dev/null", O_RDONLY);
    if (fd < 0 || dup2(fd, NOTHING) < 0) sc_posix_die("cannot open /dev/null");
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_FSIZE, &file);
    setrlimit(RLIMIT_NOFILE, &descriptors);
    sc_posix_signals_init();
    sc_posix_memory_init();
    sc_posix_output_init(OUTPUT);
    open_files();
    sc_posix_confine();
    sc_main_loop();
}
