/* bytes: 1; constructs: builtins that are library functions, hints, alloca, signed products of 64 bits that overflow; grouped-labels: no; folded-conditional: no */
#include <stdint.h>
#include "score.h"

static unsigned char *taken_from;

static int summed(unsigned n, unsigned char x)
{
    unsigned char *p = __builtin_alloca(n);
    int sum = 0;
    unsigned i;
    for (i = 0; i < n; i++)
        p[i] = i == 3 ? x : (unsigned char)i;
    for (i = 0; i < n; i++)
        sum += p[i];
    taken_from = p;
    return sum;
}

static int listed(int n)
{
    struct item {
        struct item *next;
        int value;
    } *head = 0;
    int i, sum = 0;
    for (i = 0; i < n; i++) {
        struct item *item = __builtin_alloca(sizeof *item);
        item->next = head;
        item->value = i;
        head = item;
    }
    for (; head; head = head->next)
        sum = sum * 2 + head->value;
    return sum;
}

int main(void)
{
    uint8_t x;
    int64_t product = 0;
    int hints = 0, r = 0;
    char text[12];
    SYM_U8(x);
    if (__builtin_expect(x > 200, hints++))
        r |= 1;
    if (__builtin_expect(x, ++hints) == 7)
        r |= 2;
    __builtin_prefetch(&text[hints++]);
    if (summed(5, x) == 100)
        r |= 4;
    if (__builtin_mul_overflow((int64_t)(int8_t)x, INT64_MAX / 100, &product))
        r |= 8;
    if (__builtin_mul_overflow((int64_t)x - 250, (uint64_t)1 << 62, &product))
        r |= 16;
    if (product == (int64_t)((uint64_t)3 << 62))
        r |= 32;
    if (__builtin_return_address(0) == __builtin_frame_address(0))
        r |= 128;
    __builtin_strcpy(text, "abc");
    text[1] = (char)(x | 1);
    if (__builtin_strcmp(text, "a1c") == 0)
        r |= 256;
    if (__builtin_memcmp(text, "aQc", 4) == 0)
        __builtin_puts("Q");
    if (x == 254)
        __builtin_abort();
    __builtin_printf("%d %d %d %s %d\n", r, hints, listed(6), x < 32 ? "" : "text", __builtin_abs(-(int)sizeof(char)));
    if (x == 255)
        __builtin_exit(3);
    return 0;
}
