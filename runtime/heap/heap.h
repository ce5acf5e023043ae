/* The allocator: what the models of malloc's family call, and the names that other code's calls are linked to. */
#ifndef SC_HEAP_H
#define SC_HEAP_H

#include "state.h"

void *sc_heap_allocate(sc_size size);                     /* null: no room */
void *sc_heap_aligned(sc_size alignment, sc_size size);   /* a power of two */
void sc_heap_free(sc_uptr p);
sc_size sc_heap_most(void);                               /* a larger block there cannot be */
sc_size sc_heap_size(sc_uptr p);                          /* that was asked for; p must be what malloc gave */
void sc_heap_audit(void);
/* that a byte, or one of a guard zone, belongs to; at null: none */
sc_extent sc_heap_block(const void *p, sc_u32 *freed);

#endif
