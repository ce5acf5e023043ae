/* bytes: 1; constructs: goto forwards, backwards, out of loops, into blocks, past declarations; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

int main(void)
{
    unsigned char a;
    int n = 0, i;
    SYM_U8(a);
    if (a > 128)
        goto inside;
again:
    n++;
    for (i = 0; i < 5; i++) {
        if (i == a)
            goto out;
        if (n > 3)
            goto out;
    }
    if (a < 64) {
        int extra;
    inside:
        extra = a & 7;
        if (extra == 3)
            n += 50;
        n += extra;
    }
    if (n < 3)
        goto again;
out:
    printf("%d\n", n);
    return 0;
}
