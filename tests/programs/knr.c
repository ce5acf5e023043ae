/* bytes: 2; constructs: K&R definitions, implicit int, char and short parameters passed as int, old declarations; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

int scale();

int scale(c, factor)
    signed char c;
    short factor;
{
    if (c < 0)
        factor = (short)-factor;
    return c * factor;
}

static int pick(v, which)
    unsigned char v[2];
    int which;
{
    return v[which];
}

int main(void)
{
    unsigned char in[2];
    int r;
    SYM_BYTES(in, sizeof in);
    r = scale((signed char)in[0], (short)3);
    if (r == 300)
        r = pick(in, 1);
    if (scale(in[1], 1) < -100)
        r++;
    printf("%d\n", r);
    return 0;
}
