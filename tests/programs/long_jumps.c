/* bytes: 1; constructs: setjmp and longjmp: in loops, out of recursion, over callers with symbolic locals; grouped-labels: no; folded-conditional: no */
#include <setjmp.h>
#include <stdio.h>
#include "score.h"

static jmp_buf again, out;
static int tries;

static int deeper(int x, int n)
{
    int kept = x + n;
    if (n == 0 && x > 100)
        longjmp(out, 3);
    if (n > 0)
        kept += deeper(x, n - 1);
    return kept;
}

/* Leaves its own activation's taint, and the caller's, where they were. */
static int caught(int x)
{
    volatile int stage = 0;
    int result = x ^ 5;
    switch (setjmp(out)) {
    case 0:
        stage = x;
        return deeper(x, 3) == 46 ? 1 : result;
    case 3:
        return stage > 150 ? result : -1;
    default:
        return -2;
    }
}

static void retry(int x)
{
    if (x & 1)
        longjmp(again, ++tries);
    if (x == 64)
        longjmp(again, 7);
}

int main(void)
{
    unsigned char x;
    volatile int seen = 0;
    int got;
    SYM_U8(x);
    got = setjmp(again);
    if (got < 3)
        retry(x >> got);
    else
        seen = got;
    if (seen && x != 129)
        puts("seen");
    got = caught(x);
    if (got == 200)
        puts("result");
    printf("%d %d\n", got, tries);
    return 0;
}
