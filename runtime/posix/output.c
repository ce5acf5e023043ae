/* Linux: what the program writes to its standard output and error, up to SC_MAX_OUTPUT bytes a test.
 *
 * It goes into a file in memory, so that a program may do with these descriptors as it likes. One that is
 * self-contained only writes, by the C library's streams: then what these write is kept here, and no call of the
 * kernel's is needed. What gets past them even so (the library's last words before it aborts) is in the file. */
#define _GNU_SOURCE
#if __SIZEOF_POINTER__ == 4 /* the C library's own streams ask so */
#define _FILE_OFFSET_BITS 64
#define _TIME_BITS 64
#define WRAP_FSTAT __wrap___fstat64_time64
#define REAL_FSTAT __real___fstat64_time64
#else
#define WRAP_FSTAT __wrap___fstat64
#define REAL_FSTAT fstat
#endif
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "posix.h"

ssize_t __real___write(int fd, const void *from, size_t n);
int REAL_FSTAT(int fd, struct stat *found);

static int file SC_RUNTIME_DATA;
static struct stat about SC_RUNTIME_DATA; /* the file: what streams ask before they write */

static struct {
    char text[SC_MAX_OUTPUT];
    size_t size; /* may be more than what is kept */
} kept SC_RUNTIME_DATA;

/* The program's streams write to where its output goes. */
static int is_kept(int fd)
{
    return SELF_CONTAINED && sc.running && (fd == 1 || fd == 2);
}

/* Calls of the C library's own streams (linked with --wrap). */
ssize_t __wrap___write(int fd, const void *from, size_t n)
{
    if (!is_kept(fd)) return __real___write(fd, from, n);
    if (kept.size == SC_MOST_WRITTEN && n) { /* as a file that may not grow any more */
        errno = EFBIG;
        return -1;
    }
    if (n > SC_MOST_WRITTEN - kept.size) n = SC_MOST_WRITTEN - kept.size;
    if (kept.size < sizeof kept.text) {
        size_t room = sizeof kept.text - kept.size;
        memcpy(kept.text + kept.size, from, n < room ? n : room);
    }
    kept.size += n;
    return (ssize_t)n;
}

int WRAP_FSTAT(int fd, struct stat *found)
{
    if (!is_kept(fd)) return REAL_FSTAT(fd, found);
    *found = about;
    return 0;
}

void sc_posix_output_init(int memory)
{
    file = memory;
    REAL_FSTAT(file, &about);
}

void sc_posix_output_begin(void)
{
    kept.size = 0;
}

#ifdef SC_SNAPSHOTS
/* The text itself stays: who goes on behind it has written the same. */
void sc_posix_output_keep(void)
{
    sc_keep(&kept.size, sizeof kept.size);
}
#endif

static void send_file(void)
{
    static char text[4096] SC_RUNTIME_DATA;
    /* fstat() may fail on a large inode number where off_t has 32 bits */
    off_t at = 0, size = lseek(file, 0, SEEK_END);
    if (size <= 0) return;
    while (at < (off_t)SC_MAX_OUTPUT && at < size) {
        ssize_t n = pread(file, text, sizeof text, at);
        if (n <= 0) break;
        sc_log(text, (sc_u32)n);
        at += n;
    }
    if (ftruncate(file, 0) == 0) lseek(file, 0, SEEK_SET);
}

void sc_posix_output_send(void)
{
    size_t n = kept.size < sizeof kept.text ? kept.size : sizeof kept.text;
    if (n) sc_log(kept.text, (sc_u32)n);
    if (!SELF_CONTAINED || sc.verdict == SC_VERDICT_ABORT) send_file();
}
