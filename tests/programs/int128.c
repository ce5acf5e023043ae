/* bytes: 1; constructs: values wider than any formula (128 bits where the compiler has them); grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

#ifdef __SIZEOF_INT128__
typedef __uint128_t wide;
typedef __int128_t narrow;
#else
typedef unsigned long long wide;
typedef long long narrow;
#endif

static wide total;

static wide scaled(wide v, int n)
{
    wide saved = v * 3, *p = &saved;
    for (int i = 0; i < n; i++)
        saved = i & 1 ? saved + (wide)i : saved << 1;
    *p -= 1;
    return n > 2 ? saved : v;
}

int main(void)
{
    unsigned char a;
    SYM_U8(a);
    wide w = 5, *p = &w;
    int n = 0;
    if (a > 100)
        n = 3;
    w = scaled(w++, n) + (wide)(n == 3 ? total-- : ++total);
    total += *p;
    if (total > 20)
        n = (int)-(narrow)total;
    printf("%d %d %d\n", (int)(w * 3), (int)(total >> 1), n);
    return (int)(total & 1);
}
