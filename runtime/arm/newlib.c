/* Cortex-M: what newlib and libgcc ask of a system. */
#include <errno.h>
#include <sys/stat.h>

#include "arm.h"

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
void _init(void);
void _fini(void);

void *_sbrk(int increment)
{
    void *old = sc_bare_sbrk(increment);
    if (old == (void *)-1) errno = ENOMEM;
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

void sc_bare_flush(void)
{
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

void _init(void)
{
}

void _fini(void)
{
}

/* libgcc's divisions call these: all of them where the processor has none, else those of 64 bits. A compiler that
 * sees the runtime as a whole cannot know: it puts in the divisions after it has looked who calls whom. */
void __aeabi_idiv0(void) __attribute__((externally_visible, used));
void __aeabi_ldiv0(void) __attribute__((externally_visible, used));

void __aeabi_idiv0(void)
{
    sc_end(SC_VERDICT_DIVISION_BY_ZERO, 0);
}

void __aeabi_ldiv0(void)
{
    sc_end(SC_VERDICT_DIVISION_BY_ZERO, 0);
}
