/* What the arena needs of the runtime, for a test of it alone: a heap of 64 KiB, and an end that is a failure. */
#include <stdio.h>
#include <stdlib.h>

#include "heap.h"

sc_state sc;
static unsigned char memory[65536] __attribute__((aligned(16)));
static unsigned used;

unsigned char *sc_port_more(sc_size n)
{
    unsigned char *at = memory + used;
    if (n > sizeof memory - used) return 0;
    used += (unsigned)n;
    return at;
}

sc_u32 sc_port_free_ram(void) { return sizeof memory; }

void sc_end(sc_u32 verdict, sc_i32 code)
{
    printf("verdict %u\n", (unsigned)verdict);
    exit(code + 1);
}

void sc_mix(sc_hash *h, sc_u32 x) { h->a += x; }
void sc_clear(const void *p, sc_size n) { (void)p, (void)n; }
const SC_ROM sc_d *sc_begin(const sc_frame *f, sc_uint at) { return f->table + at; }
sc_u64 sc_look(const sc_frame *f, const SC_ROM sc_d *w, const sc_uptr *words)
{ return (void)f, (void)w, (void)words, 0; }
sc_u32 sc_speak(const sc_frame *f, const SC_ROM sc_d *w, const sc_uptr *words, sc_u32 how, const void *to, sc_u32 size)
{
    return (void)f, (void)w, (void)words, (void)how, (void)to, (void)size, 0;
}
void sc_address(const void *p) { (void)p; }
void sc_varint(sc_u64 v) { (void)v; }
void sc_condition(sc_u32 x) { (void)x; }
