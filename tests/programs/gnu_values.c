/* bytes: 1; constructs: nested statement expressions, casts to unions, transparent unions, choose_expr, composite types of arrays, names of types as labels, implicit int, K&R float; grouped-labels: no; folded-conditional: no */
#include <stdint.h>
#include <stdio.h>
#include "score.h"

#define ONCE(e) ({ __typeof__(e) once_ = (e); once_; })
#define TWICE(e) ({ ONCE((e)); })
#define KIND(e) __builtin_choose_expr(__builtin_types_compatible_p(__typeof__(e), struct pair), 1, \
    __builtin_choose_expr(__builtin_types_compatible_p(__typeof__(e), unsigned char), 2, 3))

struct pair {
    int16_t one, two;
};
union value {
    struct pair pair;
    int32_t whole;
    const char *text;
};
typedef union {
    int16_t *numbers;
    const char *text;
} either __attribute__((transparent_union));
enum never *unused;
typedef int s;

extern int table[10];
int table[] = { 12, 34 };
static unsigned char bytes[4];
extern unsigned char bytes[];

static struct pair made(int x)
{
    struct pair p = { (int16_t)x, 2 };
    return p;
}

static int first(either e)
{
    return *e.numbers;
}

static int of_union(union value v)
{
    return v.pair.one;
}

float scaled(x, by)
    float x;
    int by;
{
    float *p = &x;
    if (x > 99.5f)
        *p += 1;
    return x * by;
}

enum { inner = 5 };

int main(void)
{
    unsigned char x;
    const five = 5;
    static calls;
    register r;
    int n = 0;
    SYM_UCHAR(x);
    r = ({ ({ x; }); }) + TWICE(TWICE(1));
    if (r == 100)
        n |= 1;
    if (table[x & 7] == 34)
        n |= 2;
    bytes[x & 3] = x;
    if (bytes[2] == 42)
        n |= 4;
    union value v = (union value) made(x);
    if (v.pair.one == 50 || ((union value) (int32_t) x).whole == 60)
        n |= 8;
    if (of_union((union value) v.pair) == 70)
        n |= 16;
    int16_t number = x;
    if (first(&number) == 80)
        n |= 32;
    __builtin_choose_expr(sizeof(char) == 1, n, calls) += KIND(x) + KIND(v.pair) + (int) sizeof(KIND(calls));
    if (scaled((float) x, 2) > 210)
        n |= 512;
    do {
        n += inner;
        calls++;
    } while (sizeof(enum { inner = 1 }) && calls < 3);
    calls = 0;
s:
    if (x > 250 && calls++ < 2)
        goto s;
    printf("%d %d\n", n, five);
    return 0;
}
