/* bench: 8; small: 2; a hash table with chaining: a table of random bytes is the hash, a table of lists holds the keys */
#include <stdint.h>

#include "score.h"

enum { BUCKETS = 8 };

struct entry {
    struct entry *next;
    uint8_t key, count;
};

static uint8_t scatter[256];
static struct entry pool[SIZE], *buckets[BUCKETS];
static unsigned used;

/* A permutation of all bytes, mixed as by dealing cards. */
static void make_scatter(void)
{
    uint8_t at = 0;

    for (unsigned i = 0; i < 256; i++)
        scatter[i] = (uint8_t)i;
    for (unsigned i = 0; i < 256; i++) {
        uint8_t old = scatter[i];

        at = (uint8_t)(at + old + 77);
        scatter[i] = scatter[at];
        scatter[at] = old;
    }
}

static struct entry *find(uint8_t key)
{
    struct entry *entry = buckets[scatter[scatter[key] ^ 0x35] & (BUCKETS - 1)];

    while (entry && entry->key != key)
        entry = entry->next;
    return entry;
}

static void insert(uint8_t key)
{
    struct entry **head = &buckets[scatter[scatter[key] ^ 0x35] & (BUCKETS - 1)];
    struct entry *entry = find(key);

    if (!entry) {
        entry = &pool[used++];
        entry->key = key;
        entry->next = *head;
        *head = entry;
    }
    entry->count++;
}

int main(void)
{
    uint8_t keys[SIZE];

    SYM_BYTES(keys, SIZE);
    make_scatter();
    for (unsigned i = 0; i < SIZE; i++)
        insert(keys[i]);
    if (used < SIZE)
        return 1;
    return find(keys[0])->next ? 2 : 0;
}
