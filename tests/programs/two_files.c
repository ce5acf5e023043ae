/* bytes: 2; constructs: several source files (two_files_b.c), extern functions and data, a static of the same name, an inline function in both, implicit declarations; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

struct reading {
    unsigned char raw;
    int value;
};

extern int threshold;
extern struct reading convert(unsigned char raw);
extern void adjust(struct reading *reading, int amount);

static int helper(int v) { return v + 1; }

inline int limit(int v) /* as a header would define it: C99 emits it only where it is declared extern, too */
{
    if (v > 60)
        return 60;
    return v;
}
extern int limit(int v);

int main(void)
{
    unsigned char a, b;
    struct reading r;
    SYM_U8(a);
    SYM_U8(b);
    r = convert(a);
    if (b > 128)
        threshold = b;
    adjust(&r, helper(b & 3));
    if (limit(r.value) > threshold)
        printf("over ");
    if (scaled(b >> 6) == 5 || later(b >> 6) == 6) /* declared by their calls, as C89 has it */
        printf("scaled ");
    printf("%d %d\n", r.value, threshold);
    return 0;
}

int later(v)
int v;
{
    if (v > 1)
        return 2 * scaled(v);
    return v;
}
