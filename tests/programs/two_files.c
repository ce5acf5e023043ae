/* bytes: 2; constructs: several source files (two_files_b.c), extern functions and data, a static of the same name; grouped-labels: no; folded-conditional: no */
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
    if (r.value > threshold)
        printf("over ");
    printf("%d %d\n", r.value, threshold);
    return 0;
}
