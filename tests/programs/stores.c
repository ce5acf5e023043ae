/* bytes: 2; constructs: stores at symbolic addresses: flags, members, two dimensions, counts, swaps, through a pointer into the heap; grouped-labels: no; folded-conditional: no */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "score.h"

struct cell { uint8_t kind; uint16_t value; struct cell *next; };
static uint8_t seen[8], order[4] = { 0, 1, 2, 3 };
static struct cell cells[4];
static int8_t grid[3][4];

static void swap(uint8_t *a, uint8_t *b)
{
    uint8_t t = *a;
    *a = *b;
    *b = t;
}

int main(void)
{
    uint8_t x, y;
    int32_t local[5] = { 1, 2, 3, 4, 5 };
    uint16_t *counts = calloc(4, sizeof *counts);
    int r = 0, i;
    SYM_U8(x);
    SYM_U8(y);
    if (!counts) return 1;
    seen[x & 7] = 1;
    seen[y >> 5] += 2;
    if (seen[3]) r |= 1;
    if (seen[6] == 3) r |= 2;
    cells[x & 3].value = (uint16_t) (cells[x & 3].value + y);
    cells[y & 3].next = &cells[1]; /* a symbolic pointer */
    if (cells[2].value == 9) r |= 4;
    if (cells[1].kind) r |= 8;
    if (cells[3].next) r |= 16;
    grid[x % 3][y & 3] = -5;
    if (grid[2][1] == -5) r |= 32;
    for (i = 0; i < 2; i++) {
        uint8_t at = (uint8_t) (i ? x : y);
        counts[at >> 6]++;
    }
    if (counts[1] == 2) r |= 64;
    local[x % 5] = y * 3;
    if (local[y % 5] == 30) r |= 128;
    i = order[x & 3];
    order[x & 3] = order[y & 3];
    order[y & 3] = (uint8_t) i;
    if (order[0] == 2) r |= 256;
    swap(&order[1], &order[2]);
    if (order[1] == 1) r |= 512;
    free(counts);
    printf("%d\n", r);
    return r & 1;
}
