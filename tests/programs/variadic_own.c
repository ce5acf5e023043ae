/* bytes: 1; constructs: variadic functions of the program: va_arg of all sizes, va_copy, va_list passed on and kept; grouped-labels: no; folded-conditional: no */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include "score.h"

typedef struct { int count; va_list list; } walker;

static int total(int count, ...)
{
    va_list ap;
    int i, sum = 0;
    va_start(ap, count);
    for (i = 0; i < count; i++)
        sum += va_arg(ap, int);
    va_end(ap);
    return sum;
}

/* More than registers hold, of all sizes, and numbers without a formula between them. */
static long mixed(const char *kinds, ...)
{
    va_list ap;
    long sum = 0;
    va_start(ap, kinds);
    for (; *kinds; kinds++) {
        switch (*kinds) {
        case 'i': sum += va_arg(ap, int); break;
        case 'l': sum += va_arg(ap, long); break;
        case 'L': {
            int64_t wide = va_arg(ap, int64_t);
            sum += (long) (wide >> 36);
            break;
        }
        case 'p': sum += *va_arg(ap, unsigned char *); break;
        default: sum += va_arg(ap, double) > 2.75 ? 3 : 2;
        }
    }
    va_end(ap);
    return sum;
}

static int next(va_list *list) { return va_arg(*list, int); }

static unsigned hash_of(int n, va_list list)
{
    unsigned h = 1;
    while (n-- > 0)
        h = h * 3u + (unsigned) va_arg(list, int);
    return h & 0xffu;
}

static int twice(int n, ...)
{
    va_list ap, again;
    walker w;
    int first, second;
    va_start(ap, n);
    va_copy(again, ap);
    va_copy(w.list, ap);
    w.count = n;
    first = (int) hash_of(n, ap) == 11;
    second = next(&again);
    if (va_arg(again, int) > second)
        first += 2;
    va_end(again);
    while (w.count-- > 0)
        if (va_arg(w.list, int) == 77)
            first += 4;
    va_end(w.list);
    va_end(ap);
    va_start(ap, n);
    first += va_arg(ap, int) == 3 ? 8 : 0;
    va_end(ap);
    return first;
}

int main(void)
{
    unsigned char x, low, kept[2];
    int (*pointer)(int, ...) = total;
    SYM_U8(x);
    low = x & 15;
    kept[1] = low;
    if (total(3, x, -low, 100) == 292)
        puts("total");
    if (pointer(2, x, low) == 40)
        puts("pointer");
    if (mixed("iLdlpiiiLi", low, (int64_t) x << 36, 2.5, (long) low, &kept[1], 1, low, 2, (int64_t) x << 37, x) == 213)
        puts("mixed");
    if (mixed("didi", (double) x / 4, 3, 1.0f, low) == 11)
        puts("double");
    printf("%d\n", twice(3, low, x, 77 - low));
    return 0;
}
