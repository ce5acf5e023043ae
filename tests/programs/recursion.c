/* bytes: 1; constructs: recursion, mutual recursion, symbolic depth; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

static int odd(int n);

static int even(int n)
{
    if (n == 0)
        return 1;
    return odd(n - 1);
}

static int odd(int n)
{
    if (n == 0)
        return 0;
    return even(n - 1);
}

static unsigned bits(unsigned v)
{
    if (v == 0)
        return 0;
    return (v & 1) + bits(v >> 1);
}

static int gcd(int a, int b)
{
    if (b == 0)
        return a;
    if (a < b)
        return gcd(b, a);
    return gcd(a - b, b);
}

int main(void)
{
    unsigned char a;
    SYM_U8(a);
    if (a < 12)
        printf("%s\n", even(a) ? "even" : "odd");
    else if (a < 100)
        printf("%u bits\n", bits(a));
    else if (a > 200)
        printf("gcd %d\n", gcd(a, 60));
    else
        printf("%d\n", a);
    return 0;
}
