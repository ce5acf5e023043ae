/* bytes: 1; constructs: conditionals of pointers, null pointer constants, void pointers, constant expressions of each type; grouped-labels: no; folded-conditional: yes */
#include <stddef.h>
#include <stdio.h>
#include "score.h"

enum big { LARGE = ~0u, SMALL = -1 < 0u };
enum { SHIFTED = (1u << 31) << 1, HALF = -1 / 2u == 0x7fffffff };
struct pair {
    int a, b;
};

static int distance(int a)
{
    struct pair t[3] = {{1, 2}, {3, 4}, {5, 6}}, *p = t;
    void *v = t;
    int *i = &t[0].a, c = a & 1;
    int first = (int)((char *)((c ? p : NULL) + 1) - (char *)p), second = (int)((char *)((c ? NULL : p) + 1) - (char *)p);
    int third = (int)((char *)((c ? v : i) + 1) - (char *)p), fourth = (int)((char *)((c ? i : v) + 1) - (char *)p);
    int fifth = (c ? p : NULL) ? (c ? p + 1 : 0)->b : 0, sixth = (int)((char *)((p ?: v) + 1) - (char *)p);
    int seventh = *((c ? i : NULL) ? (c ? i : 0) + 1 : i);
    printf("%d %d %d %d %d %d\n", c ? first : second, third, fourth, fifth, sixth, seventh);
    return fifth;
}

int main(void)
{
    unsigned char a;
    SYM_U8(a);
    int r = 0;
    if (a & 0x80)
        r = distance(a);
    else {
        if (~0u == 0xffffffffu) r += 1;
        if (-1 < 0u) r += 2;
        if (0u - 1 > 0) r += 4;
        if (sizeof(int) - 5 > 0) r += 8;
        if (sizeof(int) > -1) r += 16;
        if ((1u << 31) << 1) r += 32;
        if ((~0u << 4) == 0xfffffff0u) r += 64;
        r += (-1 / 2u) ? 128 : 0;
        r += LARGE == 0xffffffffu ? 256 : 0;
        r += (SMALL || SHIFTED) ? 512 : 0;
        r += HALF ? 1024 : 0;
        r += __builtin_constant_p(3) + __builtin_constant_p("text");
        r += a > 3 ? sizeof(int[LARGE == -1 ? 1 : 2]) : (unsigned long)a;
    }
    printf("%d\n", r);
    return 0;
}
