/* bytes: 2; constructs: arithmetic that says whether it overflowed, of all widths, mixed signs, and into narrower types; grouped-labels: no; folded-conditional: no */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include "score.h"

int main(void)
{
    uint8_t a, c;
    int8_t b;
    int16_t narrow;
    int32_t whole;
    uint32_t unsigned_whole;
    uint64_t wide, big;
    int64_t far, away;
    int n = 0;
    SYM_U8(a);
    SYM_I8(b);
    if (__builtin_add_overflow(a, b, &c))
        n |= 1;
    if (__builtin_mul_overflow((int16_t)(a * 16), b, &narrow))
        n |= 2;
    n |= __builtin_sub_overflow((uint32_t)a, (uint32_t)100, &unsigned_whole) << 2;
    n |= __builtin_mul_overflow((uint32_t)a << 24, (uint32_t)a, &whole) << 3;
    n |= __builtin_mul_overflow((uint32_t)a << 20, (uint32_t)(uint8_t)b, &unsigned_whole) << 4;
    big = UINT64_MAX - 100;
    if (__builtin_add_overflow(big, (uint64_t)a, &wide))
        n |= 32;
    n |= __builtin_sub_overflow((uint64_t)a, 7u, &wide) << 6;
    n |= __builtin_mul_overflow((uint64_t)a << 58, (uint64_t)(uint8_t)b, &wide) << 7;
    far = INT64_MAX - 50;
    if (__builtin_add_overflow(far, (int64_t)b, &away))
        n |= 256;
    n |= __builtin_sub_overflow(-far, (int64_t)b, &away) << 9;
    if (__builtin_saddl_overflow(LONG_MAX - 3, (long)b, (long[]){0}))
        n |= 1024;
    if (__builtin_umul_overflow(UINT_MAX / 4, a, (unsigned[]){0}))
        n |= 2048;
    printf("%d %u %d %ld %lx %lx %lx\n", n, c, narrow, (long)whole, (unsigned long)unsigned_whole,
           (unsigned long)(wide >> 32), (unsigned long)((uint64_t)away & 0xffffffff));
    return 0;
}
