/* bytes: 1; constructs: operands with calls beside variables, elements and members, comma in an operand; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

static int g, h, t[4];
static unsigned u;
static short narrow;
static struct {
    int member;
} s;
static int *p = &h;

static int f(int x)
{
    g = h = t[0] = t[1] = s.member = x;
    u = (unsigned)x;
    narrow = (short)x;
    return x + 90;
}

static int get(void)
{
    return g;
}

static int through(int *q)
{
    *q = 10;
    return 100;
}

int main(void)
{
    unsigned char a;
    SYM_U8(a);
    int local = 1, one = 1;
    long long sum = 0;
#define ORDER(e) (g = h = t[0] = t[1] = s.member = one, u = 1, narrow = 1, local = 1, sum += sum * 7 + (long long)(e), \
                  printf("%d ", (int)(sum % 1000)))
    if (a > 200) {
        ORDER(g + f(10)); ORDER(g - f(10)); ORDER(g * f(10)); ORDER(g > f(10) - 95); ORDER(g == f(10) - 90);
        ORDER(g != f(10) - 90); ORDER(g / f(10)); ORDER(g & f(10)); ORDER(g | f(10)); ORDER(g ^ f(10));
        ORDER(g * 2 + f(10)); ORDER((g + 1) - f(10)); ORDER(-g - f(10)); ORDER((char)g + f(10)); ORDER(u + f(10));
        ORDER((long long)g + f(10)); ORDER(g + (long long)f(10)); ORDER((unsigned)g + f(10)); ORDER(narrow + f(10));
        ORDER(t[0] + f(10)); ORDER(t[g] - f(10)); ORDER(*p + f(10)); ORDER(s.member + f(10)); ORDER((g + h) + f(10));
        ORDER(g + h + f(10)); ORDER(f(10) + g); ORDER(f(10) - g); ORDER(g + f(10) * h); ORDER(g * f(10) + h * f(9));
    } else if (a > 100) {
        ORDER(g - (f(10), g)); ORDER(g + (f(10), g)); ORDER(g * 2 - (f(10), g)); ORDER(get() - (f(10), g));
        ORDER((get(), g) - f(10)); ORDER(g << (f(10), 1)); ORDER(g % (f(10), 3)); ORDER(local + through(&local));
        ORDER(local - through(&local)); ORDER(local < through(&local) - 95); ORDER(p == (f(10), &h));
        ORDER(h - (one ? f(10) : 0)); ORDER(h + (one ? f(10) : 0)); ORDER(h + (one && f(10))); ORDER((g == 1) + f(10));
        ORDER(g + ({ f(10); 3; })); ORDER(g - ({ f(10); 3; })); ORDER((short)h - (short)f(10));
    }
    h = a;
    if (h + f(a & 3) == 93)
        puts("three");
    return 0;
}
