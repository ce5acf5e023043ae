/* bytes: 2; constructs: variadic calls: printf with every conversion, snprintf, own variadic function; grouped-labels: no; folded-conditional: no */
#include <stdarg.h>
#include <stdio.h>
#include "score.h"

static int total(int count, ...)
{
    va_list ap;
    int i, sum = 0;
    va_start(ap, count);
    for (i = 0; i < count; i++)
        sum += va_arg(ap, int);
    va_end(ap);
    return sum;
}

int main(void)
{
    unsigned char a;
    signed char b;
    char text[16];
    SYM_U8(a);
    SYM_I8(b);
    if (a > b)
        printf("%c%c ", 'a' + a % 26, b < 0 ? '-' : '+');
    if (a == 77)
        snprintf(text, sizeof text, "%d", 12345);
    else
        snprintf(text, sizeof text, "%s", "none");
    printf("%d %u %x %ld %hd %s %%\n", b, (unsigned)a, a * 257u, (long)a - b, (short)(a * b), text);
    printf("%d\n", total(3, 1, 2, 3));
    return 0;
}
