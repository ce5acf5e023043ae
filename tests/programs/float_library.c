/* bytes: 2; constructs: fabs, floor, ceil, trunc, sqrt, isnan, isinf, isfinite, isnormal, signbit, fpclassify, isless, fmin, fmax, infinities, patterns through unions; grouped-labels: no; folded-conditional: no */
#include <math.h>
#include <stdio.h>
#include "score.h"

union pattern {
    __UINT32_TYPE__ bits;
    float number;
};
static int is_odd(double x) { return x - 2 * floor(x / 2) == 1; }

int main(void)
{
    unsigned short high;
    union pattern p;
    float x, root;
    int n = 0;
    SYM_U16(high);
    p.bits = (__UINT32_TYPE__)high << 16;
    x = p.number;
    if (isnan(x)) n = 1;
    else if (isinf(x)) n = 2 + (signbit(x) != 0);
    if (isfinite(x)) n += 4;
    if (isnormal(x)) n += 8;
    if (signbit(x)) n += 16;
    if (fpclassify(x) == FP_SUBNORMAL) n += 32;
    if (fabsf(x) > 3 && fabsf(x) < 1000) {
        if (ceilf(x) - floorf(x) == 0) n += 64;
        if (trunc(x) == -5) n += 128;
        if (is_odd(floor(x))) n += 256;
        root = sqrtf(x);
        if (root == 12.5f) n += 512;
        if (isunordered(root, x)) n += 1024;
        if (fminf(fmaxf(x, -2), 2.5f) == 2.5f) n += 4096;
    }
    if (isless(x, -1e30f) && x != -INFINITY) n += 2048;
    printf("%d\n", n);
    return 0;
}
