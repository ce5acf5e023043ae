/* score.h: declare what is symbolic, what to assume and what to assert. The only header of score-embed that
 * programs include.
 *
 *     int x;
 *     SYM_INT(x);                     x may have any value
 *     SYM_BYTES(buffer, 24);          24 bytes may have any value
 *     SCORE_ASSUME(x > 0);            other inputs are of no interest
 *     SCORE_ASSERT(f(x) != 7);        an input that makes this false is a bug
 *
 * Built by score-embed (which defines SCORE_EMBED) these are calls that its front-end recognises. Built by any other
 * compiler run the same program replays one test: the input is read from the file that the environment variable
 * SCORE_INPUT names, or, where there are no files, from score_input[], which `score-embed export` writes; bytes that
 * are missing are 0. C99; any number of files of a program may include it. Two macros change the plain build:
 * SCORE_NO_FILES, for boards without a file system or stdio: the input is score_input[] and nothing else;
 * SCORE_DRIVER, for the file that drives regression tests: it gives the input and takes the ends itself. */
#ifndef SCORE_H
#define SCORE_H

#define SYM_CHAR(x) SCORE_SYMBOLIC_(x, char)
#define SYM_UCHAR(x) SCORE_SYMBOLIC_(x, unsigned char)
#define SYM_SCHAR(x) SCORE_SYMBOLIC_(x, signed char)
#define SYM_SHORT(x) SCORE_SYMBOLIC_(x, short)
#define SYM_USHORT(x) SCORE_SYMBOLIC_(x, unsigned short)
#define SYM_INT(x) SCORE_SYMBOLIC_(x, int)
#define SYM_UINT(x) SCORE_SYMBOLIC_(x, unsigned int)
#define SYM_LONG(x) SCORE_SYMBOLIC_(x, long)
#define SYM_ULONG(x) SCORE_SYMBOLIC_(x, unsigned long)
#define SYM_LLONG(x) SCORE_SYMBOLIC_(x, long long)
#define SYM_ULLONG(x) SCORE_SYMBOLIC_(x, unsigned long long)
#define SYM_U8(x) SCORE_SYMBOLIC_(x, __UINT8_TYPE__)
#define SYM_U16(x) SCORE_SYMBOLIC_(x, __UINT16_TYPE__)
#define SYM_U32(x) SCORE_SYMBOLIC_(x, __UINT32_TYPE__)
#define SYM_U64(x) SCORE_SYMBOLIC_(x, __UINT64_TYPE__)
#define SYM_I8(x) SCORE_SYMBOLIC_(x, __INT8_TYPE__)
#define SYM_I16(x) SCORE_SYMBOLIC_(x, __INT16_TYPE__)
#define SYM_I32(x) SCORE_SYMBOLIC_(x, __INT32_TYPE__)
#define SYM_I64(x) SCORE_SYMBOLIC_(x, __INT64_TYPE__)
#define SYM_FLOAT(x) SCORE_SYMBOLIC_(x, float)
#define SYM_DOUBLE(x) SCORE_SYMBOLIC_(x, double)
#define SYM_BOOL(x) __score_boolean(&(x), sizeof(x), #x)
#define SYM_BYTES(p, n) __score_bytes((p), (n), #p)


/* In main: `count` arguments of up to `size` bytes each may be anything; argv[0] stays. */
#define SYM_ARGV(argc, argv, count, size)                                                  \
    do {                                                                                   \
        static char score_text_[count][(size) + 1], *score_list_[(count) + 2];             \
        int score_i_;                                                                      \
        score_list_[0] = (argv)[0];                                                        \
        for (score_i_ = 0; score_i_ < (count); score_i_++) {                               \
            score_list_[score_i_ + 1] = score_text_[score_i_];                             \
            __score_bytes(score_text_[score_i_], (size), "argv");                          \
        }                                                                                  \
        (argc) = (count) + 1;                                                              \
        (argv) = score_list_;                                                              \
    } while (0)

#define SCORE_ASSUME(c) do { if (!(c)) __score_assume_fail(); } while (0)
#define SCORE_ASSERT(c) do { if (!(c)) __score_assert_fail(#c, __FILE__, __LINE__); } while (0)

#ifdef __cplusplus
extern "C" {
#endif

void __score_symbolic(volatile void *object, __SIZE_TYPE__ size, const char *name);
void __score_boolean(volatile void *object, __SIZE_TYPE__ size, const char *name);
void __score_bytes(volatile void *object, __SIZE_TYPE__ size, const char *name);
void __score_text(volatile void *object, __SIZE_TYPE__ size, const char *name);
void __score_sized(const volatile void *object, const __SIZE_TYPE__ *bytes);
void __score_assume_fail(void) __attribute__((noreturn));
void __score_assert_fail(const char *condition, const char *file, int line) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif

#ifdef SCORE_EMBED

#define SCORE_SYMBOLIC_(x, type)                                                            \
    do {                                                                                    \
        _Static_assert(sizeof(x) == sizeof(type), "the object has not the size of " #type); \
        __score_symbolic(&(x), sizeof(type), #x);                                           \
    } while (0)

#else /* the plain build: replay */

#define SCORE_SYMBOLIC_(x, type) \
    __score_symbolic(&(x), sizeof(type) * sizeof(char[sizeof(x) == sizeof(type) ? 1 : -1]), #x)

#define SCORE_WEAK_ __attribute__((weak))

#ifdef SCORE_DRIVER

unsigned char __score_next(void); /* the next byte of the input */

#else

/* The linked input of hosts without files; absent unless the program defines it. */
extern SCORE_WEAK_ const unsigned char score_input[];
extern SCORE_WEAK_ const __SIZE_TYPE__ score_input_size;

#ifndef SCORE_NO_FILES
#include <stdio.h>
#include <stdlib.h>
#endif

SCORE_WEAK_ unsigned char __score_next(void);
SCORE_WEAK_ unsigned char __score_next(void)
{
    static __SIZE_TYPE__ position;
#ifndef SCORE_NO_FILES
    static FILE *file;
    static int tried;
    int byte;
#endif
    if (&score_input_size)
        return (unsigned char)(position < score_input_size ? score_input[position++] : 0);
#ifdef SCORE_NO_FILES
    return 0;
#else
    if (!tried) {
        const char *path = getenv("SCORE_INPUT");
        tried = 1;
        if (path && !(file = fopen(path, "rb"))) {
            fprintf(stderr, "score.h: cannot read SCORE_INPUT=%s\n", path);
            exit(2);
        }
    }
    byte = file ? getc(file) : EOF;
    return (unsigned char)(byte == EOF ? 0 : byte);
#endif
}

SCORE_WEAK_ void __score_assume_fail(void)
{
#ifdef SCORE_NO_FILES
    for (;;) continue; /* nowhere to return to */
#else
    exit(0);
#endif
}

SCORE_WEAK_ void __score_assert_fail(const char *condition, const char *file, int line)
{
#ifdef SCORE_NO_FILES
    (void)condition, (void)file, (void)line;
    __builtin_trap(); /* a debugger shows the caller */
#else
    fflush(stdout);
    fprintf(stderr, "%s:%d: SCORE_ASSERT failed: %s\n", file, line, condition);
    abort();
#endif
}

#endif /* SCORE_DRIVER */

SCORE_WEAK_ void __score_bytes(volatile void *object, __SIZE_TYPE__ size, const char *name)
{
    volatile unsigned char *to = (volatile unsigned char *)object;
    (void)name;
    while (size--) *to++ = __score_next();
}

SCORE_WEAK_ void __score_text(volatile void *object, __SIZE_TYPE__ size, const char *name)
{
    __score_bytes(object, size, name);
}

SCORE_WEAK_ void __score_sized(const volatile void *object, const __SIZE_TYPE__ *bytes)
{
    (void)object;
    (void)bytes; /* a plain build does not know where objects end */
}

SCORE_WEAK_ void __score_symbolic(volatile void *object, __SIZE_TYPE__ size, const char *name)
{
    static const unsigned short one = 1;
    volatile unsigned char *to = (volatile unsigned char *)object;
    __SIZE_TYPE__ i;
    (void)name; /* the input holds numbers with the low byte first, whatever the machine does */
    for (i = 0; i < size; i++) to[*(const unsigned char *)&one ? i : size - 1 - i] = __score_next();
}

SCORE_WEAK_ void __score_boolean(volatile void *object, __SIZE_TYPE__ size, const char *name)
{
    static const unsigned short one = 1;
    volatile unsigned char *to = (volatile unsigned char *)object;
    __SIZE_TYPE__ i;
    (void)name;
    for (i = 0; i < size; i++) to[i] = 0;
    if (size) to[*(const unsigned char *)&one ? 0 : size - 1] = (unsigned char)(__score_next() & 1);
}

#endif /* SCORE_EMBED */
#endif /* SCORE_H */
