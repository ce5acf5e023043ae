/* bytes: 1; constructs: attributes of functions, variables and typedefs; inline; __func__; grouped-labels: no; folded-conditional: no */
#include <stdint.h>
#include <stdio.h>
#include "score.h"

typedef uint64_t unaligned64 __attribute__((aligned(1)));
typedef uint32_t unaligned32 __attribute__((aligned(1), may_alias));
typedef struct { char c[3]; } __attribute__((aligned(16))) wide;
typedef int quarter __attribute__((mode(QI)));
static uint8_t bytes[24] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17 };

int square(int x) __attribute__((pure));
__attribute__((const, noinline)) int square(int x) { return x * x + 1; }
static int (*pointer)(int) __attribute__((__const__)) = square;

inline __attribute__((always_inline)) int inlined(int x) { return x > 50 ? x + 1 : 0; }
extern inline __attribute__((gnu_inline)) int defined_twice(int x) { return x - 1; }
int defined_twice(int x) { return x - 1; }
inline int emitted(int x) { return x > 60; }
extern int emitted(int x);

static unsigned read_unaligned(const uint8_t *p, uint8_t x)
{
    uint64_t a = *(const unaligned64 *) p, c = *(const unaligned64 *) (p + 8);
    *(unaligned64 *) (void *) (bytes + 1) = a + c + x;
    if (*(unaligned32 *) (bytes + 1) == 0x100e0c0au + 33)
        return 1;
    return (unsigned) (a >> 32) ^ (unsigned) c;
}

static int aligned_locals(int x)
{
    char fill = 0, buffer[8] __attribute__((aligned(64)));
    _Alignas(32) char other[5];
    static char kept[3] __attribute__((aligned(128)));
    __attribute__((aligned(32))) int number = x, *p = &number;
    wide w, *pw = &w;
    quarter q = (quarter) (x + 200), *pq = &q;
    int __attribute__((mode(HI))) h = 70000;
    int unused __attribute__((unused));
    buffer[0] = other[0] = kept[0] = fill;
    pw->c[0] = buffer[0];
    if (*pq < 0)
        number++;
    return ((uintptr_t) buffer % 64 != 0) + ((uintptr_t) other % 32 != 0) + ((uintptr_t) kept % 128 != 0)
        + ((uintptr_t) p % 32 != 0) + ((uintptr_t) pw % 16 != 0) + (int) _Alignof(buffer) + (int) _Alignof(number)
        + (int) _Alignof(wide) + (int) _Alignof(unaligned64) + number + h;
}

static const char *who(void) { static const char *name = __func__; return name; }

int main(void)
{
    unsigned char x;
    SYM_U8(x);
    int a = square(x), b = square(x), c = pointer(x), d = pointer(x);
    if (a == 26)
        puts("a");
    if (b == 37)
        puts("b");
    if (c == 50)
        puts("c");
    if (d == 65)
        puts("d");
    printf("%d %d %d %d\n", inlined(x), defined_twice(x), emitted(x), aligned_locals(x));
    printf("%x %s %d\n", read_unaligned(bytes + 1, x), who(), (int) sizeof __func__ > 4);
    return 0;
}
