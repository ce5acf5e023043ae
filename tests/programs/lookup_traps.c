/* bytes: 1; constructs: reads at symbolic addresses: a table changed between reads, partly symbolic, on the stack, rows of two dimensions, members of structs, pointers into the middle, other widths, a result that is its own index; grouped-labels: no; folded-conditional: no */
#include <stdint.h>
#include <stdio.h>
#include "score.h"

struct rule {
    int16_t low;
    uint8_t weight[3];
    uint32_t mask;
};
static uint8_t squares[16];
static const struct rule rules[4] = { { -5, { 1, 2, 3 }, 0x80000001 }, { 7, { 4, 5, 6 }, 2 }, { 300, { 7, 8, 9 }, 4 }, { 0, { 9, 9, 9 }, 0 } };
static const int8_t around[9] = { -4, -3, -2, -1, 0, 10, 20, 30, 40 };
static const uint64_t wide[4] = { 1, 0x100000000, 0x123456789abcdef0, 0xffffffffffffffff };
static uint8_t grid[4][5];
static const char *const names[4] = { "zero", "one", "two", "three" };

static int changed(uint8_t x)
{
    int first, i;
    for (i = 0; i < 16; i++)
        squares[i] = (uint8_t)(i * i);
    first = squares[x & 15];
    squares[3] = 77;
    if (first == 9 && squares[x & 15] == 77)
        return 1;
    squares[4] = x;
    if (squares[x & 15] == 0x14)
        return 2;
    return first == 225 ? 3 : 0;
}

static int partly(uint8_t x)
{
    uint8_t local[6] = { 5, 4, 3, 2, 1, 0 };
    uint16_t pairs[3];
    local[2] = (uint8_t)(x ^ 0x55);
    pairs[0] = pairs[2] = 0;
    pairs[1] = (uint16_t)(x << 7);
    if (local[x % 6] == 0x47)
        return 10;
    if (pairs[x % 3] == 0x2000)
        return 11;
    return local[local[3 + (x & 1)]] > 0x80 ? 12 : 13;
}

static int rows(uint8_t x)
{
    const struct rule *r = &rules[x & 3];
    int k;
    for (k = 0; k < 20; k++)
        grid[k / 5][k % 5] = (uint8_t)(k * 7);
    if (grid[x & 3][(x >> 2) % 5] == 91)
        return 30;
    if (grid[2][x % 5] == 84)
        return 31;
    if (rules[x >> 6].low < 0 && rules[x >> 6].weight[x % 3] == 3)
        return 32;
    return rules[x & 3].mask >> 31 ? 33 : r->weight[0];
}

static int middle(uint8_t x)
{
    const int8_t *p = around + 4;
    int at = x % 9 - 4;
    if (p[at] == 30)
        return 40;
    if (around[4 - at] < -3)
        return 41;
    if (wide[x & 3] >> 32 == 1)
        return 42;
    return (around + 2)[x % 3] + names[x >> 6][0];
}

int main(void)
{
    uint8_t x;
    int a;
    SYM_U8(x);
    a = changed(x) + partly(x);
    printf("%d %d %d\n", a, rows(x), middle(x));
    return 0;
}
