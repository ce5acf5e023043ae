/* Decisions of many shapes: nested, in macros, in assignments and returns, with calls that contain decisions, in a function
 * that calls itself in their midst, with conditions that are never symbolic, and with some that decide nothing. */
#include <score.h>
#include <stdio.h>

#define DEBUG 0
#define IN(x, low, high) ((x) >= (low) && (x) < (high))

static int mode;
static unsigned char set[4] = {3, 0, 1, 0};

static int is_set(unsigned i)
{
    return i < sizeof set && set[i] && (set[i] & 1 || mode > 1);
}

static int depth(unsigned n)
{
    return n > 2 && (n & 1 || depth(n - 2)) && n != 7;
}

static int ordered(int a, int b, int c)
{
    return (a <= b && b <= c) || (a >= b && b >= c);
}

int main(void)
{
    unsigned char a, b, c;
    int hits = 0, i;
    SYM_U8(a);
    SYM_U8(b);
    SYM_U8(c);
    mode = a > 200 ? 2 : 1;
    if (a > 10 && (b > 20 || c == 30) && !(a == b))
        hits++;
    if (DEBUG || a == 7 || (DEBUG && b))
        hits += 2;
    if (IN(a, 40, 50) || IN(b, 60, 70))
        hits += 4;
    if (mode == 2 && (b < 9 || mode != 1)) /* what is left of it decides nothing */
        hits += 8;
    int flag = a == 1 || (b == 2 && c == 3);
    hits += flag ? 16 : (a == b && b == c) || c > 250;
    for (i = 0; i < 4 && (is_set(i) || c != 9); i++)
        hits += is_set(c & 7);
    while (hits > 100 && a && !(b & 1))
        hits -= 50;
    if (a == 5 && (a != 5 || b == 3)) /* the middle one is never true */
        hits++;
    if (c > 100 && depth(c & 15))
        hits++;
    do
        hits += ordered(a & 3, b & 3, c & 3);
    while (a == 99 && hits < 3 && i++ < 9);
    printf("%d\n", hits);
    return hits == 12 || !hits;
}
