/* bytes: 1; constructs: symbolic addresses through pointers: into arrays on the stack and of static storage, cursors, tables of pointers, linked structs, stores; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include <string.h>
#include "score.h"

struct item {
    unsigned char key;
    short value;
    struct item *next;
};

static struct item items[3] = {{1, 10, 0}, {2, 20, &items[0]}, {3, 30, &items[1]}};
static struct item lone = {9, 90, &items[2]};
static unsigned char table[16];
static unsigned char *const tables[2] = {table, table + 4};

static int look(const unsigned char *t, unsigned i)
{
    return t[i];
}

static void put(short *t, unsigned i, short v)
{
    t[i] = v;
}

/* A cursor that the input moves. */
static int walk(const unsigned char *p, const unsigned char *end)
{
    int n = 0;
    while (p < end) {
        unsigned char skip = *p++;
        if (skip == 7) return n + 100;
        p += skip & 3;
        n++;
    }
    return n;
}

/* The buffer is the caller's caller's: variables of functions between and after them are known, too. */
static int deep(const unsigned char *p, unsigned i, int depth)
{
    unsigned char own[4];
    memset(own, depth, sizeof own);
    if (depth) return deep(depth & 1 ? p : own, i, depth - 1) + own[3];
    return p[i & 3];
}

static void stamp(unsigned char *p, unsigned char c)
{
    *p++ = c;
    *p = 0;
}

int main(void)
{
    struct item *list[4] = {&items[0], &items[2], &lone, &items[1]};
    const char *names[2] = {"ab", "xyz"};
    unsigned char x, buffer[6], text[9];
    short out[8];
    unsigned i;
    int result = 0;
    SYM_U8(x);
    for (i = 0; i < sizeof table; i++) table[i] = (unsigned char)(i * i);
    for (i = 0; i < sizeof buffer; i++) buffer[i] = (unsigned char)(i * 3 + 1);
    buffer[0] = x;
    memset(out, 0, sizeof out);
    memset(text, ' ', sizeof text);
    if (look(table, x & 15) == 49) result |= 1;
    if (list[x >> 6]->value == 90) result |= 2;
    if (list[x >> 6]->next && list[x >> 6]->next->key == 3) result |= 4;
    if (tables[x & 1][x >> 5] > 40) result |= 8;
    if (names[x >> 7][x & 1] == 'y') result |= 16;
    put(out, x & 7, 5);
    if (out[3] == 5) result |= 32;
    stamp(text + (x & 7), 'z');
    if (text[4] == 'z') result |= 64;
    if (text[8] == 0) result |= 128;
    printf("%d %d %d\n", result, walk(buffer, buffer + 6), deep(buffer, x, 3));
    return 0;
}
