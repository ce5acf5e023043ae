/* Cortex-M: what newlib asks of a system, and the ends of a program that newlib would turn into a halt. */
#include <errno.h>
#include <sys/stat.h>

#include "arm.h"

static sc_u8 *heap_end SC_RUNTIME_DATA, *heap_high SC_RUNTIME_DATA;

void *_sbrk(int increment);
int _write(int file, const char *from, int n);
int _read(int file, char *to, int n);
int _close(int file);
int _open(const char *path, int flags, int mode);
int _fstat(int file, struct stat *info);
int _isatty(int file);
int _lseek(int file, int offset, int whence);
int _kill(int process, int signal);
int _getpid(void);
void _exit(int status);
void _init(void);
void _fini(void);
void abort(void);
void __assert_func(const char *file, int line, const char *function, const char *text);

/* Bytes between the heap's beginning and the end of RAM. */
sc_u32 sc_arm_heap_free(void)
{
    return (sc_u32)((sc_u8 *)__put_heap_end - (sc_u8 *)__put_heap_start);
}

void sc_arm_heap_restore(void)
{
    sc_uptr high = ((sc_uptr)heap_high + 3u) & ~(sc_uptr)3u;
    if (heap_high) sc_arm_fill_words(__put_heap_start, (sc_u32 *)high);
    heap_end = heap_high = (sc_u8 *)__put_heap_start;
}

void *_sbrk(int increment)
{
    sc_u8 *old = heap_end;
    if (increment > (sc_u8 *)__put_heap_end - old || increment < (sc_u8 *)__put_heap_start - old) {
        errno = ENOMEM;
        return (void *)-1;
    }
    heap_end = old + increment;
    if (heap_end > heap_high) heap_high = heap_end;
    return old;
}

int _write(int file, const char *from, int n)
{
    if (file != 1 && file != 2) {
        errno = EBADF;
        return -1;
    }
    if (n > 0 && sc.running && !SC_IN_INTERRUPT()) sc_log(from, (sc_u32)n);
    return n;
}

int _read(int file, char *to, int n)
{
    (void)file;
    (void)to;
    (void)n;
    return 0;
}

int _close(int file)
{
    (void)file;
    return 0;
}

int _open(const char *path, int flags, int mode)
{
    (void)path;
    (void)flags;
    (void)mode;
    errno = ENOENT;
    return -1;
}

int _fstat(int file, struct stat *info)
{
    (void)file;
    info->st_mode = S_IFCHR;
    return 0;
}

int _isatty(int file)
{
    (void)file;
    return 1;
}

int _lseek(int file, int offset, int whence)
{
    (void)file;
    (void)offset;
    (void)whence;
    return 0;
}

int _kill(int process, int signal)
{
    (void)process;
    sc_end(SC_VERDICT_ABORT, signal);
}

int _getpid(void)
{
    return 1;
}

void _exit(int status)
{
    sc_end(SC_VERDICT_EXIT, status);
}

void _init(void)
{
}

void _fini(void)
{
}

void abort(void)
{
    sc.pc = (sc_u64)(sc_uptr)__builtin_return_address(0) - 2u; /* within the call: what follows may be of another line */
    sc_end(SC_VERDICT_ABORT, 6);
}

/* libgcc's divisions call these: all of them where the processor has none, else those of 64 bits. */
void __aeabi_idiv0(void);
void __aeabi_ldiv0(void);

void __aeabi_idiv0(void)
{
    sc_end(SC_VERDICT_DIVISION_BY_ZERO, 0);
}

void __aeabi_ldiv0(void)
{
    sc_end(SC_VERDICT_DIVISION_BY_ZERO, 0);
}

static void say(const char *text)
{
    sc_u32 n = 0;
    while (text[n]) n++;
    sc_log(text, n);
}

void __assert_func(const char *file, int line, const char *function, const char *text)
{
    char digits[12];
    int at = sizeof digits;
    digits[--at] = 0;
    do digits[--at] = (char)('0' + line % 10);
    while ((line /= 10) > 0);
    say(file);
    say(":");
    say(digits + at);
    say(": ");
    say(function ? function : "?");
    say(": Assertion `");
    say(text);
    say("' failed.\n");
    sc.pc = (sc_u64)(sc_uptr)__builtin_return_address(0) - 2u; /* within the call: what follows may be of another line */
    sc_end(SC_VERDICT_ASSERTION, 0);
}
