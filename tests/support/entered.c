/* Runs the harness of one function until that function is entered, and writes the memory that it then finds to a file.
 *
 * Linked with a plain program whose functions are compiled with -finstrument-functions. Nothing here knows what a
 * harness makes: inputs are at random, and pointers are looked at by entered.py, in what was written.
 *
 * usage: PROGRAM ENTRY FUNCTION TRIES MOST FILE (the number of the harness, the address of the function) */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))
#define BLOCKS 4096

extern int (*const entered_table[])(void);
extern char __data_start[], _end[];

static uintptr_t entered_function, entered_top;
static uint64_t entered_random;
static FILE *entered_file;
static struct { uintptr_t at, size; } entered_blocks[BLOCKS];
static unsigned entered_count, entered_mode, entered_zeros, entered_sparse;
static char entered_heap[1 << 20] __attribute__((aligned(16)));
static size_t entered_used;

QUIET static unsigned draw(void)
{
    entered_random ^= entered_random << 13;
    entered_random ^= entered_random >> 7;
    entered_random ^= entered_random << 17;
    return (unsigned)(entered_random >> 32);
}

QUIET static void put(uintptr_t from, uintptr_t to)
{
    uint64_t head[2] = {from, to - from};
    fwrite(head, sizeof head, 1, entered_file);
    fwrite((const void *)from, 1, to - from, entered_file);
}

/* A snapshot: the frame's address, blocks of the heap, then pieces of memory; each list ends with an empty one. */
QUIET void __cyg_profile_func_enter(void *function, void *site)
{
    uint64_t frame = (uint64_t)__builtin_frame_address(1) + 2 * sizeof(void *), none[2] = {0, 0};
    (void)site;
    if ((uintptr_t)function != entered_function) return;
    fwrite(&frame, sizeof frame, 1, entered_file);
    fwrite(entered_blocks, sizeof entered_blocks[0], entered_count, entered_file);
    fwrite(none, sizeof none, 1, entered_file);
    put((uintptr_t)__data_start, (uintptr_t)_end);
    put((uintptr_t)__builtin_frame_address(0), entered_top);
    fwrite(none, sizeof none, 1, entered_file);
    fflush(entered_file);
    _exit(0);
}

QUIET void __cyg_profile_func_exit(void *function, void *site)
{
    (void)function, (void)site;
}

QUIET void *__wrap_malloc(size_t size)
{
    char *found = entered_heap + entered_used;
    if (size > sizeof entered_heap - entered_used - 16 || entered_count == BLOCKS) _exit(3);
    entered_used += (size + 31) & ~(size_t)15;
    entered_blocks[entered_count].at = (uintptr_t)found;
    entered_blocks[entered_count++].size = size ? size : 1;
    memset(found, 0xa5, size);
    return found;
}

QUIET void *__wrap_calloc(size_t count, size_t size)
{
    return memset(__wrap_malloc(count * size), 0, count * size);
}

/* Small numbers, so that what is assumed of counts comes true, among bytes that no address has by chance. No run has
 * many of those: what is assumed of a dozen counts has to come true at once. */
QUIET void __score_bytes(volatile void *object, size_t size, const char *name)
{
    volatile unsigned char *to = object;
    static const unsigned below[] = {2, 3, 16, 2}, one_in[] = {64, 16, 4, 16};
    int is_small = draw() % (entered_sparse ? 1024 : one_in[entered_mode]) != 0;
    size_t i;
    (void)name;
    for (i = 0; i < size; i++) to[i] = is_small ? 0 : (unsigned char)draw();
    if (!is_small || !size || (entered_sparse ? draw() % 16 != 0 : entered_zeros && draw() % 8 < entered_zeros)) return;
    to[0] = (unsigned char)(draw() % below[entered_mode]);
}

QUIET void __score_symbolic(volatile void *object, size_t size, const char *name)
{
    __score_bytes(object, size, name);
}

QUIET void __score_text(volatile void *object, size_t size, const char *name)
{
    __score_bytes(object, size, name);
}

QUIET void __score_boolean(volatile void *object, size_t size, const char *name)
{
    (void)name;
    memset((void *)object, 0, size);
    *(volatile unsigned char *)object = draw() & 1;
}

QUIET void __score_sized(const volatile void *object, const size_t *bytes)
{
    (void)object, (void)bytes;
}

QUIET void __score_assume_fail(void)
{
    _exit(1);
}

QUIET void __score_assert_fail(const char *condition, const char *file, int line)
{
    (void)condition, (void)file, (void)line;
    _exit(1);
}

QUIET int main(int argc, char **argv)
{
    unsigned entry, tries, most, i, met = 0;
    if (argc != 6) return 2;
    entry = (unsigned)atoi(argv[1]);
    entered_function = strtoull(argv[2], 0, 0);
    tries = (unsigned)atoi(argv[3]), most = (unsigned)atoi(argv[4]);
    entered_file = fopen(argv[5], "ab");
    if (!entered_file) return 2;
    for (i = 0; i < tries && met < most; i++) {
        int status = 0;
        pid_t child = fork();
        if (child < 0) return 2;
        if (!child) {
            entered_random = 0x9e3779b97f4a7c15u * (i + 1);
            entered_mode = i % 4;
            /* of eight: what is assumed of two dozen counts seldom comes true else */
            entered_zeros = i < 64 ? 0 : i / 4 % 4 * 2;
            entered_sparse = i >= tries / 2; /* nor that of a hundred, else */
            entered_top = (uintptr_t)__builtin_frame_address(0);
            alarm(2);
            entered_table[entry]();
            _exit(4); /* it was not called */
        }
        waitpid(child, &status, 0);
        met += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    return met ? 0 : 1;
}
