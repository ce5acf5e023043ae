/* bytes: 1; constructs: + - * / % & | ^ ~ << >> on int, unary + - !; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

int main(void)
{
    unsigned char a;
    int x, y;
    SYM_U8(a);
    x = a;
    y = (x + 3) * 5 - x / 7 + x % 11;
    if (y > 700)
        y = -y;
    if ((x & 0x0f) == 9)
        y ^= 0x55;
    if ((x | 0x30) != x)
        y = ~y;
    if (((x << 3) ^ (x >> 2)) > 1500)
        y = +y + !x;
    printf("%d\n", y);
    return 0;
}
