#include <stdint.h>

#define LIMBS 64

static uint32_t a[LIMBS], b[LIMBS], product[2 * LIMBS];

static void multiply(uint32_t *to, const uint32_t *x, const uint32_t *y, unsigned n)
{
    unsigned i, k;
    for (i = 0; i < 2 * n; i++) to[i] = 0;
    for (i = 0; i < n; i++) {
        uint64_t carry = 0;
        for (k = 0; k < n; k++) {
            carry += (uint64_t)x[i] * y[k] + to[i + k];
            to[i + k] = (uint32_t)carry;
            carry >>= 32;
        }
        to[i + n] = (uint32_t)carry;
    }
}

unsigned work(unsigned char *data, unsigned n)
{
    unsigned i, sum = 0;
    for (i = 0; i < LIMBS; i++) {
        a[i] = data[4 * i % n] | (uint32_t)data[(4 * i + 1) % n] << 8 | (uint32_t)data[(4 * i + 2) % n] << 16;
        b[i] = ~a[i] * 3u;
    }
    multiply(product, a, b, LIMBS);
    for (i = 0; i < 2 * LIMBS; i++) sum ^= product[i];
    return sum;
}
