/* bytes: 1; constructs: attribute cleanup, left by the end of blocks, break, continue, return, goto and statement expressions; grouped-labels: no; folded-conditional: no */
#include <stdint.h>
#include <stdio.h>
#include "score.h"

#define CLEANED __attribute__((__cleanup__(leave)))

static int left;

static void leave(int *p)
{
    left = left * 3 + *p;
    if (*p == 77)
        left++;
}

static void restore(const uint8_t *kept)
{
    left += *kept;
}

static int returns(int x)
{
    int a CLEANED = 1;
    {
        int b CLEANED = x;
        if (x < 10)
            return a + b;
        int c __attribute__((unused, cleanup(leave))) = 3;
        if (x < 20)
            return left + c++;
    }
    return left;
}

static void loops(int n)
{
    for (int i CLEANED = 0; i < n; i++) {
        int k CLEANED = i + 10;
        if (i == 1)
            continue;
        if (i == 3)
            break;
        left++;
    }
}

static void jumps(int x)
{
    int turns = 0;
again:;
    int a CLEANED = 20 + turns;
    if (++turns < 3 && x == 60)
        goto again;
    {
        int b CLEANED = 30;
        if (x == 61)
            goto out;
        {
            int c CLEANED = 33;
            if (x == 62)
                goto in;
        }
in:
        left += 5;
    }
out:
    left += 7;
}

/* As <util/atomic.h> of AVR has it. */
#define ATOMIC_BLOCK for (uint8_t kept __attribute__((cleanup(restore))) = state, once = 1; once; once = 0)

static uint8_t state = 4;

static int blocks(int x)
{
    ATOMIC_BLOCK
    {
        state = 9;
        if (x == 70)
            break;
        left++;
    }
    ATOMIC_BLOCK
    {
        if (x == 71)
            return 1;
    }
    return 0;
}

struct pair {
    int one, two;
};

static struct pair both(int x)
{
    struct pair p = { x, 2 };
    int a CLEANED = 5;
    switch (x) {
    case 80: {
        int b CLEANED = 40;
        break;
    }
    default:;
        int c CLEANED = 42;
        p.two = ({ int d CLEANED = c; d + 1; });
    }
    return p;
}

int main(void)
{
    uint8_t x;
    SYM_U8(x);
    int r = returns(x);
    loops(x & 7);
    jumps(x);
    r += blocks(x);
    struct pair p = both(x);
    if (left == 1234)
        r++;
    printf("%d %d %d\n", r, left, p.two);
    return 0;
}
