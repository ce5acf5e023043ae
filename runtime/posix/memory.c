/* Linux: the program's memory. What was writable when it began comes back before each test.
 *
 * Two kinds: the static image and the thread's block (restored from a copy); the heap arena and the stack (zeroed
 * where they were used). malloc gets its memory from an arena at a fixed address, so that pointers are the same in
 * every run and in every process. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "posix.h"

int __malloc_trim(size_t pad); /* malloc_trim, which a program may have of its own */
#pragma weak __malloc_trim
#pragma weak mallopt /* there are none if the program has an allocator of its own */

#define PAGE 4096u
#define FEW 8192u  /* bytes of the stack that every test may use */
#define MANY 65536u /* from here on pages are given back rather than cleared */

extern char __data_start[], _end[], __start_sc_data[], __stop_sc_data[];

static struct region {
    char *at, *copy;
    size_t size;
    size_t zero, behind; /* the longest run of zeros in it, from here to there: most of it is the C library's .bss */
} regions[3] SC_RUNTIME_DATA;

static struct {
    uintptr_t current, high; /* the break, and the highest it was in this test */
    uintptr_t at_start;      /* the break when the snapshot was made */
    uintptr_t used;          /* what was not zero then ends here */
    unsigned mapped;
    char *copy;              /* the heap below `used` */
} heap SC_RUNTIME_DATA;

#define STACK_TOP ((uintptr_t)SC_STACK_BASE + SC_STACK_SIZE)
static uintptr_t lowest SC_RUNTIME_DATA; /* the stack can be used from here on */

static unsigned discards SC_RUNTIME_DATA; /* MADV_DONTNEED empties pages: some emulators do nothing and say they did */

void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__real_mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset);

/* No mapping of the program's own (linked with --wrap): what it maps could not be restored. malloc fails instead. */
static unsigned refused(void)
{
    if (sc.running) errno = ENOMEM;
    return sc.running;
}

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    return refused() ? MAP_FAILED : __real_mmap(at, size, protection, flags, fd, offset);
}

void *__wrap_mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset)
{
    return refused() ? MAP_FAILED : __real_mmap64(at, size, protection, flags, fd, offset);
}

void *__wrap___mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    return __wrap_mmap(at, size, protection, flags, fd, offset);
}

void *__wrap___mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset)
{
    return __wrap_mmap64(at, size, protection, flags, fd, offset);
}

static void *map_fixed(uintptr_t at, size_t size, int protection)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void *p = mmap((void *)at, size, protection, flags, -1, 0);
    if (p != (void *)at) sc_posix_die("cannot map the program's memory at its fixed address");
    return p;
}

static void *allocate(size_t size)
{
    void *p = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) sc_posix_die("out of memory");
    return p;
}

/* Zero [from, to); whole pages are given back when there are many. */
static void zero(uintptr_t from, uintptr_t to)
{
    uintptr_t first = (from + 4095u) & ~(uintptr_t)4095u, last = to & ~(uintptr_t)4095u;
    if (from >= to) return;
    if (first >= last || last - first < MANY) {
        memset((void *)from, 0, to - from);
        return;
    }
    memset((void *)from, 0, first - from);
    memset((void *)last, 0, to - last);
    if (!discards || madvise((void *)first, last - first, MADV_DONTNEED)) memset((void *)first, 0, last - first);
}

/* malloc's source of memory (linked with --wrap=__sbrk and --wrap=sbrk). */
void *__wrap___sbrk(intptr_t increment)
{
    uintptr_t old;
    if (!heap.mapped) {
        map_fixed(SC_HEAP_BASE, SC_HEAP_SIZE, PROT_READ | PROT_WRITE);
        heap.mapped = 1;
        heap.current = heap.high = SC_HEAP_BASE;
    }
    old = heap.current;
    if (increment > (intptr_t)(SC_HEAP_BASE + SC_HEAP_SIZE - old) || increment < (intptr_t)(SC_HEAP_BASE - old)) {
        errno = ENOMEM;
        return (void *)-1;
    }
    heap.current = old + (uintptr_t)increment;
    if (increment < 0) zero(heap.current, old);
    if (heap.current > heap.high) heap.high = heap.current;
    return (void *)old;
}

void *__wrap_sbrk(intptr_t increment)
{
    return __wrap___sbrk(increment);
}

sc_u8 *sc_port_more(sc_size n)
{
    void *at = __wrap___sbrk((intptr_t)n);
    return at == (void *)-1 ? 0 : at;
}

static void find_zeros(struct region *r)
{
    size_t at = 0, begin = 0;
    while (at + sizeof(size_t) <= r->size) {
        size_t word;
        memcpy(&word, r->at + at, sizeof word);
        at += sizeof word;
        if (word) begin = at;
        else if (at - begin > r->behind - r->zero) r->zero = begin, r->behind = at;
    }
}

static void add_region(char *from, char *to)
{
    struct region *r = regions;
    while (r->size) r++;
    r->at = from;
    r->size = (size_t)(to - from);
    r->copy = allocate(r->size + 1);
    memcpy(r->copy, from, r->size);
    find_zeros(r);
}

static void restore(const struct region *r)
{
    memcpy(r->at, r->copy, r->zero);
    memset(r->at + r->zero, 0, r->behind - r->zero);
    memcpy(r->at + r->behind, r->copy + r->behind, r->size - r->behind);
}

/* The thread's block (errno, thread locals, malloc's cache) lies in the kernel's own heap, below the break. An emulator
 * does not name it; there it follows the image. */
static void add_thread_block(void)
{
    static char text[16384] SC_RUNTIME_DATA;
    ssize_t n, size = 0;
    char *line;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && size < (ssize_t)sizeof text - 1 &&
           (n = read(fd, text + size, sizeof text - 1 - (size_t)size)) > 0)
        size += n;
    if (fd >= 0) close(fd);
    for (line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : 0) {
        char *end = strchr(line, '\n'), *name = strstr(line, "[heap]");
        uintptr_t part[2] = {0, 0};
        int k = 0;
        char *p;
        if (!name || (end && name > end)) continue;
        for (p = line; *p != ' '; p++) {
            if (*p == '-') k = 1;
            else part[k] = part[k] << 4 | (uintptr_t)(*p <= '9' ? *p - '0' : *p - 'a' + 10);
        }
        add_region((char *)part[0], (char *)part[1]);
        return;
    }
    add_region(_end, (char *)syscall(SYS_brk, 0));
}

/* For mappings that are asked for without the C library's functions. An emulator ignores it. */
static void limit_mappings(void)
{
    char text[64];
    unsigned long pages = 0;
    struct rlimit limit;
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC), i;
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
    if (fd >= 0) close(fd);
    for (i = 0; i < n && text[i] != ' '; i++) pages = pages * 10u + (unsigned long)(text[i] - '0');
    if (n <= 0) sc_posix_die("cannot read /proc/self/statm");
    limit.rlim_cur = limit.rlim_max = pages * 4096u + (1u << 20);
    setrlimit(RLIMIT_AS, &limit);
}

static unsigned can_discard(void)
{
    char *page = allocate(4096);
    unsigned done;
    *page = 1;
    done = madvise(page, 4096, MADV_DONTNEED) == 0 && *(volatile char *)page == 0;
    munmap(page, 4096);
    return done;
}

/* All of it but what every test may use. */
static void forbid_stack(void)
{
    lowest = STACK_TOP - FEW;
    if (mprotect((void *)(uintptr_t)SC_STACK_BASE, lowest - SC_STACK_BASE, PROT_NONE)) lowest = SC_STACK_BASE;
}

unsigned sc_posix_use_stack(uintptr_t at)
{
    uintptr_t page = at & ~(uintptr_t)(PAGE - 1u), twice = STACK_TOP - 2u * (STACK_TOP - lowest);
    if (at < SC_STACK_BASE || at >= lowest) return 0;
    if (page > twice && twice >= SC_STACK_BASE) page = twice;
    if (mprotect((void *)page, lowest - page, PROT_READ | PROT_WRITE)) return 0;
    lowest = page;
    return 1;
}

/* The stack's pages below the lowest stack pointer that is known: opaque code may have gone deeper. */
static void zero_resident(void)
{
    static unsigned char resident[SC_STACK_SIZE / PAGE] SC_RUNTIME_DATA;
    uintptr_t from = STACK_TOP - FEW;
    size_t pages = (from - SC_STACK_BASE) / PAGE, i;
    memset((void *)from, 0, FEW);
    if (mincore((void *)(uintptr_t)SC_STACK_BASE, pages * PAGE, resident)) return;
    for (i = 0; i < pages && !(resident[i] & 1u); i++) {}
    if (i < pages) zero(SC_STACK_BASE + i * PAGE, from);
}

/* Which part was used? Code without probes leaves no trace of how deep it went. If the program never has the kernel
 * write to the stack, what no test used yet is protected, and the fault tells; else the kernel is asked. */
static void zero_stack(void)
{
    if (lowest == SC_STACK_BASE) {
        zero_resident();
    } else if (STACK_TOP - lowest <= MANY) {
        memset((void *)lowest, 0, STACK_TOP - lowest);
    } else {
        zero(lowest, STACK_TOP);
        forbid_stack();
    }
}

/* malloc takes what it needs, and no more: it has to be cleared after the test. Nor does it give anything back. */
static void keep_heap(void)
{
    if (!mallopt) return;
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TOP_PAD, 0);
    if (__malloc_trim) __malloc_trim(0); /* start-up had some */
    mallopt(M_TRIM_THRESHOLD, -1);
}

void sc_posix_memory_init(void)
{
    discards = can_discard();
    map_fixed(SC_GUARD_BASE, SC_STACK_BASE - SC_GUARD_BASE, PROT_NONE);
    map_fixed(SC_STACK_BASE, SC_STACK_SIZE, PROT_READ | PROT_WRITE);
    lowest = SC_STACK_BASE;
    if (SELF_CONTAINED) forbid_stack();
    keep_heap();
    __wrap___sbrk(0);
    heap.at_start = heap.used = heap.current;
    while (heap.used > SC_HEAP_BASE && !*(char *)(heap.used - 1u)) heap.used--;
    heap.copy = allocate(heap.used - SC_HEAP_BASE + 1u);
    memcpy(heap.copy, (void *)(uintptr_t)SC_HEAP_BASE, heap.used - SC_HEAP_BASE);
    add_thread_block();
    add_region(__data_start, __start_sc_data);
    add_region(__stop_sc_data, _end);
    limit_mappings();
}

void sc_posix_memory_restore(void)
{
    struct region *r;
    for (r = regions; r < regions + 3; r++) restore(r);
    zero(heap.used, heap.high);
    memcpy((void *)(uintptr_t)SC_HEAP_BASE, heap.copy, heap.used - SC_HEAP_BASE);
    heap.current = heap.high = heap.at_start;
    zero_stack();
}

#ifdef SC_SNAPSHOTS
#define PART 256u   /* bytes that are compared, and kept, at once */
#define MOST 0x100000u /* bytes of all memory that is looked at: more would take longer than it can save */

static const char zeros[PART];

/* Keep those parts of [from, to) that are not as `before` has them; null: not zero. */
static void keep_changed(char *from, const char *to, const char *before)
{
    while (from < to) {
        size_t n = (size_t)(to - from) < PART ? (size_t)(to - from) : PART;
        if (memcmp(from, before ? before : zeros, n)) sc_keep(from, n);
        from += n;
        if (before) before += n;
    }
}

static void keep_region(const struct region *r)
{
    char *end = r->at + r->size;
    keep_changed(r->at, r->at + r->zero, r->copy);
    keep_changed(r->at + r->zero, r->at + r->behind, 0);
    keep_changed(r->at + r->behind, end, r->copy + r->behind);
}

/* The stack as far as it is not zero: what lies below the stack pointer, too, as a program may read it (though it
 * should not). */
static void keep_stack(void)
{
    char *from = (char *)lowest;
    while (from + PART <= (char *)STACK_TOP && !memcmp(from, zeros, PART)) from += PART;
    sc_keep(from, STACK_TOP - (uintptr_t)from);
}

static size_t looked_at(void)
{
    size_t all = heap.high - SC_HEAP_BASE;
    struct region *r;
    for (r = regions; r < regions + 3; r++) all += r->size;
    return all;
}

sc_u32 sc_port_keep(const sc_mark *mark)
{
    uintptr_t here = mark->registers[SC_MARK_SP];
    size_t all = looked_at();
    struct region *r;
    if (!SELF_CONTAINED || STACK_TOP - lowest > MANY || all > MOST) return 0;
    if (here < lowest || here >= STACK_TOP) return 0; /* it runs on a stack of its own making */
    for (r = regions; r < regions + 3; r++) keep_region(r);
    keep_changed((char *)SC_HEAP_BASE, (char *)heap.used, heap.copy);
    keep_changed((char *)heap.used, (char *)heap.high, 0);
    sc_keep(&heap.current, sizeof heap.current);
    sc_keep(&heap.high, sizeof heap.high);
    sc_posix_output_keep();
    keep_stack();
    return (sc_u32)all;
}
#endif
