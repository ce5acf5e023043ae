/* bytes: 1; constructs: sizes of static tables from their initialisers: designators, ranges, elided braces, strings in braces, wide strings; constant and address initialisers of automatic tables; grouped-labels: no; folded-conditional: no */
#include <stdint.h>
#include <stdio.h>
#include <wchar.h>
#include "score.h"

#define COUNT(t) ((int)(sizeof(t) / sizeof((t)[0])))

enum { IDLE, RUN, STOP };

struct row {
    uint8_t id;
    uint8_t limits[2];
};

typedef int open[];

static const char *const names[] = { [STOP] = "stop", [IDLE] = "idle" };
static const struct row rows[] = { 1, 10, 11, 2, { 20 }, [4] = { 5, 50, 51 }, 6 };
static const uint8_t classes[] = { [0 ... 9] = 1, [sizeof(uint32_t)] = 3, 2 };
static char text[] = { "abcd" };
static const int grid[][2] = { 1, 2, 3 };
static const wchar_t wide[] = L"pq" L"r";
static const open three = { 1, 2, 3 };
static struct row from_literal[] = { (struct row){ 7, { 8 } }, { 9 } };
static uint8_t buffer[8];

static int sizes(unsigned char x)
{
    static const char *const inner[] = { [RUN] = "run" };
    static struct row elided[] = { 1, 2, 3, 4 };
    static char word[] = { "xyz" };
    static const uint8_t known_to_the_compiler[] = { [sizeof(struct row)] = 4 };
    if (x < COUNT(names))
        return (names[RUN] == 0) * 10 + COUNT(names);
    if (x < COUNT(rows))
        return rows[1].limits[0] + rows[3].id + rows[4].limits[1] + rows[5].id;
    if (x == 30)
        return COUNT(classes) + classes[4] * 100 + classes[5] * 1000;
    if (x == 31)
        return COUNT(text) + COUNT(grid) * 10 + COUNT(wide) * 100 + COUNT(three) * 1000 + COUNT(from_literal) * 10000;
    if (x == 32)
        return COUNT(inner) + COUNT(elided) * 10 + COUNT(word) * 100 + word[2];
    return COUNT(known_to_the_compiler) + elided[1].id;
}

static int addresses(unsigned char x)
{
    const struct row *const picked[] = { &rows[4], rows + 1, [3] = &from_literal[1] };
    uintptr_t words[] = { (uintptr_t)buffer & 0, 7, (uintptr_t)&buffer[1] };
    int truths[] = { buffer != 0, !buffer, 12 / COUNT(three) };
    uint16_t halves[2] = { (uint16_t)((uintptr_t)buffer & 0), 9 };
    int (*calls[])(unsigned char) = { 0, sizes };
    if (x == 40)
        return picked[0]->id * 100 + picked[1]->limits[0] + picked[3]->id + (picked[2] == 0);
    if (x == 41)
        return words[0] + words[1] + (words[2] == (uintptr_t)(buffer + 1));
    if (x == 42)
        return truths[0] * 100 + truths[1] * 10 + truths[2] + halves[1];
    return calls[1](x);
}

int main(void)
{
    unsigned char x;
    SYM_U8(x);
    printf("%d\n", addresses(x));
    return 0;
}
