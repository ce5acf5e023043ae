/* bytes: 2; constructs: malloc, calloc, realloc and free: sizes that are symbolic, a list, a buffer that grows; grouped-labels: no; folded-conditional: yes */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "score.h"

struct node { struct node *next; uint8_t value; };
static void (*release)(void *) = free;

static struct node *insert(struct node *list, uint8_t value)
{
    struct node **at = &list, *made = malloc(sizeof *made);
    if (!made) exit(9);
    made->value = value;
    while (*at && (*at)->value < value) at = &(*at)->next;
    made->next = *at;
    *at = made;
    return list;
}

int main(void)
{
    struct node *list = 0, *old;
    uint8_t x, y, *text;
    unsigned size = 2, used = 0, i;
    SYM_U8(x);
    SYM_U8(y);
    list = insert(insert(insert(list, 100), x), y);
    while ((old = list)) {
        printf("%d ", old->value == x);
        list = old->next;
        free(old);
    }
    text = calloc(1u + (x & 3u), 2); /* one path for each size */
    if (!text) return 9;
    if (text[x & 1]) return 8;
    for (i = 0; i < (x & 3u) * 2u; i++) text[i] = (uint8_t) (y + i);
    if (text[(x & 3u) * 2u] || (x & 3 && text[1] == 77)) printf("seven ");
    free(text);
    text = (uint8_t *) strdup((char[]) { (char) x, 'b', 0 });
    if (text && !strcmp((char *) text, "ab")) printf("copied ");
    release(text);
    text = malloc(size);
    for (i = 0; text && i < (y & 7u); i++) {
        if (used == size) text = realloc(text, size *= 2);
        if (text) text[used++] = x;
    }
    printf("%u\n", size);
    release(text);
    return 0;
}
