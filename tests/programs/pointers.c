/* bytes: 2; constructs: pointers to locals and globals, pointer to pointer, arithmetic, comparison, null; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

static int global = 3;

static void swap(int *a, int *b)
{
    int t = *a;
    *a = *b;
    *b = t;
}

static int *larger(int *a, int *b)
{
    if (*a > *b)
        return a;
    return b;
}

int main(void)
{
    unsigned char a, b;
    int x, y, *p = &x, **pp = &p, *none = 0;
    int table[4] = { 10, 20, 30, 40 };
    int *first = table, *last = &table[3];
    SYM_U8(a);
    SYM_U8(b);
    x = a;
    y = b;
    if (x < y)
        swap(&x, &y);
    if (*larger(p, &y) > 250)
        *pp = &global;
    **pp += 5;
    if (none == 0 && p != &x)
        *(table + 2) = x;
    while (first < last && *first < y)
        first++;
    if (last - first == 2)
        global -= *(last - 1);
    printf("%d %d %d %d\n", x, y, global, (int)(first - table));
    return 0;
}
