/* bytes: 1; constructs: inline assembly with operands: barriers, in and out, in memory, with names; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

/* What is symbolic goes into barriers only: there it keeps its formula. */
static int shared;
struct port { int data, status; } port;

static int hidden(int x)
{
    __asm__ volatile("" : "+r"(x)); /* as code that must not be optimised has it */
    __asm__ volatile("" ::: "memory");
    return x;
}

static int moved(int x)
{
    int y, z = 1;
    unsigned char narrow;
    __asm__ volatile("nop" : "=r"(y) : "0"(x + 1));
    __asm__("nop" : [out] "=r"(narrow) : [in] "0"((unsigned char) (x + 2)));
    __asm__ volatile("nop\n\tnop" : "+r"(z), "+m"(port.data) : "r"(y), "i"(sizeof(port)), "m"(shared) : "memory");
    __asm__ volatile("nop" : : "r"(x), "m"(port));
    return y * 10 + z + narrow;
}

int main(void)
{
    unsigned char x;
    int old;
    SYM_U8(x);
    shared = x;
    port.data = 7;
    if (hidden(x) == 99)
        puts("hidden");
    if (shared > 200)
        puts("shared");
    shared = 0;
    old = moved(4);
    __asm__ volatile("nop" ::: "memory");
    if (x == 13)
        puts("x");
    printf("%d %d\n", old, port.data);
    return 0;
}
