/* malloc's family on an arena of our own: linked in the library's place if the program calls one of it.
 *
 * A block is a head, a guard zone, the bytes that were asked for, and a guard zone up to the next block's head. New
 * blocks are taken from behind the last one, so that freed ones stay free and are known to be. Only where no more
 * memory is to be had, or much is free, neighbours that are free are joined and used again. Everything here is the
 * program's memory, which the restore brings back before each test. */
#include "heap.h"

#if __SIZEOF_POINTER__ == 2
enum { GUARD = 4 };
#define MOST_FREE 0x7FFFu /* bytes that may be free before they are used again */
#else
enum { GUARD = __SIZEOF_POINTER__ == 8 ? 32 : 8 };
#define MOST_FREE 0x100000u
#endif
#ifdef __linux__ /* 128 MiB of small blocks, and programs that work on several at a time */
enum { PAGES = 8192, RECENT = 64 };
#else
enum { PAGES = __SIZEOF_POINTER__ == 2 ? 8 : 64, RECENT = 1 };
#endif
enum { ALIGN = __BIGGEST_ALIGNMENT__ < 2 ? 2 : __BIGGEST_ALIGNMENT__ > 16 ? 16 : __BIGGEST_ALIGNMENT__ };
enum { GUARDED = 0xC5, LIVE = 0x11FE, FREED = 0xF4EE };

typedef struct {
    sc_uptr size, extent; /* bytes that were asked for; bytes up to the next block's head */
    sc_u32 site;          /* where it was allocated */
    sc_d state, sum;      /* sum: of the rest, so that a damaged head is found */
} block;

enum { HEAD = (sizeof(block) + GUARD + ALIGN - 1) / ALIGN * ALIGN, LEAST = (HEAD + GUARD + ALIGN - 1) / ALIGN * ALIGN };

static struct {
    sc_u8 *start, *end;   /* of the blocks */
    block *rover;         /* where to look for free ones */
    sc_uptr free;         /* bytes in blocks that are free */
    sc_u32 shift;         /* a page has 1 << shift bytes */
    block *pages[PAGES];  /* the block that each page begins in, so that a search is short */
    block *recent[RECENT]; /* that were looked for, by some bits of the address */
} heap;

static sc_u8 *bytes_of(const block *b)
{
    return (sc_u8 *)b + HEAD;
}

static block *next(const block *b)
{
    return (block *)((sc_u8 *)b + b->extent);
}

static sc_d sum_of(const block *b)
{
    sc_u32 v = (sc_u32)b->size ^ (sc_u32)b->extent << 1 ^ b->site << 2 ^ (sc_u32)(sc_uptr)b;
    return (sc_d)(v ^ v >> 16 ^ b->state);
}

/* Where the test ends is part of its path. */
static void __attribute__((noreturn)) fail(sc_u32 verdict, const void *address)
{
    sc.address = (sc_wide)(sc_uptr)address;
    sc_mix(&sc.path, sc.last_site << 1 | 1u);
    sc_end(verdict, 0);
}

static block *sound(block *b)
{
    if (b->sum != sum_of(b)) fail(SC_VERDICT_HEAP_CORRUPTION, b);
    return b;
}

/* The block that the byte lies in, its head and guard zones included; null if it is in none. */
static block *find(const void *p)
{
    sc_uptr at = (sc_uptr)((const sc_u8 *)p - heap.start);
    block **recent = &heap.recent[at >> 4 & (RECENT - 1u)], *b = *recent;
    if (at >= (sc_uptr)(heap.end - heap.start)) return 0;
    if (b && (sc_uptr)((const sc_u8 *)p - (sc_u8 *)b) < b->extent) return sound(b);
    b = sound(heap.pages[at >> heap.shift]);
    while ((const sc_u8 *)next(b) <= (const sc_u8 *)p) b = sound(next(b));
    return *recent = b;
}

/* Blocks are about to be cut or joined. */
static void forget(void)
{
    sc_u32 i;
    for (i = 0; i < RECENT; i++) heap.recent[i] = 0;
}

/* Whoever called malloc: a damaged guard zone is reported there if nobody frees the block. */
static sc_u32 caller(void)
{
    sc_u32 depth = sc.opaque ? sc.depth : sc.depth - 1u, i = depth % SC_STACK_SITES;
    return sc.stack_depth[i] == (sc_d)depth ? sc.stack[i] : sc.last_site;
}

static void fill(sc_u8 *from, const sc_u8 *to)
{
    while (from < to) *from++ = GUARDED;
}

static void seal(block *b)
{
    b->sum = sum_of(b);
}

static void make(void *at, sc_uptr extent, sc_uptr size, sc_u32 state)
{
    block *b = at;
    sc_uptr page = ((sc_uptr)((sc_u8 *)at - heap.start) + ((sc_uptr)1 << heap.shift) - 1u) >> heap.shift;
    sc_u8 *to = (sc_u8 *)at + extent;
    b->size = size;
    b->extent = extent;
    b->site = caller();
    b->state = (sc_d)state;
    seal(b);
    fill((sc_u8 *)(b + 1), bytes_of(b));
    fill(bytes_of(b) + size, to);
    for (; page < PAGES && heap.start + (page << heap.shift) < to; page++) heap.pages[page] = b;
    if (state == FREED) heap.free += extent;
}

static sc_uptr limit(void)
{
    sc_uptr most = sc_port_free_ram();
#ifdef SC_HEAP_LIMIT
    if (most > SC_HEAP_LIMIT) most = SC_HEAP_LIMIT;
#endif
    return most;
}

static void start(void)
{
    sc_uptr pad;
    sc.block = sc_heap_block;
    sc.audit = sc_heap_audit;
    if (heap.start) return;
    heap.start = sc_port_more(0);
    pad = -(sc_uptr)heap.start & (ALIGN - 1u);
    if (sc_port_more(pad)) heap.start += pad;
    heap.end = heap.start;
    heap.rover = (block *)heap.start;
    while (limit() >> heap.shift >= PAGES) heap.shift++;
}

/* So many bytes behind the last block; null if there are none. */
static sc_u8 *extend(sc_uptr n)
{
    sc_u8 *at = heap.end;
    if (n > limit() - (sc_uptr)(heap.end - heap.start) || sc_port_more(n) != at) return 0;
    heap.end += n;
    return at;
}

/* A free block and its neighbours that are free as one. */
static void join(block *b)
{
    sc_uptr extent = b->extent;
    while ((sc_u8 *)b + extent < heap.end && sound((block *)((sc_u8 *)b + extent))->state == FREED)
        extent += ((block *)((sc_u8 *)b + extent))->extent;
    if (extent == b->extent) return;
    forget();
    heap.free -= extent;
    make(b, extent, extent - LEAST, FREED);
}

/* The next free block of at least that many bytes, cut to size if there is enough for another one; null if there is
 * none within so many bytes. */
static block *reuse(sc_uptr extent, sc_uptr within)
{
    sc_uptr seen = 0;
    while (seen < within) {
        block *b = (sc_u8 *)heap.rover < heap.end ? sound(heap.rover) : (block *)heap.start;
        if (b->state == FREED) join(b);
        heap.rover = next(b);
        seen += b->extent;
        if (b->state != FREED || b->extent < extent) continue;
        forget();
        heap.free -= b->extent;
        if (b->extent - extent >= LEAST) {
            heap.rover = (block *)((sc_u8 *)b + extent);
            make(heap.rover, b->extent - extent, b->extent - extent - LEAST, FREED);
            b->extent = extent;
        }
        return b;
    }
    return 0;
}

/* A block behind the last whose bytes are so aligned; what lies before it is a free block. */
static block *fresh(sc_uptr extent, sc_uptr alignment)
{
    sc_uptr gap = -(sc_uptr)(heap.end + HEAD) & (alignment - 1u);
    block *b;
    sc_u8 *at;
    while (gap && gap < LEAST) gap += alignment;
    at = extend(gap + extent);
    if (!at) return 0;
    if (gap) make(at, gap, gap - LEAST, FREED);
    b = (block *)(at + gap);
    b->extent = extent;
    return b;
}

void *sc_heap_aligned(sc_size alignment, sc_size size)
{
    sc_uptr extent;
    block *b = 0;
    start();
    if (size > limit()) return 0;
    extent = (LEAST + size + ALIGN - 1u) / ALIGN * ALIGN;
    if (alignment <= ALIGN && heap.free > MOST_FREE) b = reuse(extent, 0x4000);
    if (!b) b = fresh(extent, alignment < ALIGN ? ALIGN : alignment);
    /* twice: the rover may stand among free ones */
    if (!b && alignment <= ALIGN) b = reuse(extent, 2u * (sc_uptr)(heap.end - heap.start));
    if (!b) return 0;
    make(b, b->extent, size, LIVE);
    if (!sc.opaque) sc_clear(bytes_of(b), size); /* taint does not change in opaque code */
    return bytes_of(b);
}

sc_size sc_heap_most(void)
{
    start();
    return limit();
}

void *sc_heap_allocate(sc_size size)
{
    return sc_heap_aligned(ALIGN, size);
}

static const sc_u8 *damage(const sc_u8 *from, const sc_u8 *to)
{
    while (from < to && *from == GUARDED) from++;
    return from < to ? from : 0;
}

/* The first byte of a guard zone that somebody wrote to; null if there is none. */
static const sc_u8 *damaged(const block *b)
{
    const sc_u8 *found = damage((const sc_u8 *)(b + 1), bytes_of(b));
    return found ? found : damage(bytes_of(b) + b->size, (const sc_u8 *)next(b));
}

/* The block whose bytes begin at p, allocated and undamaged: else the test ends. */
static block *owned(const void *p)
{
    block *b;
    const sc_u8 *bad;
    start();
    b = find(p);
    if (!b || bytes_of(b) != p) fail(b && b->state == FREED ? SC_VERDICT_DOUBLE_FREE : SC_VERDICT_INVALID_FREE, p);
    if (b->state == FREED) fail(SC_VERDICT_DOUBLE_FREE, p);
    bad = damaged(b);
    if (bad) fail(SC_VERDICT_HEAP_CORRUPTION, bad);
    return b;
}

sc_size sc_heap_size(sc_uptr p)
{
    return owned((const void *)p)->size;
}

void sc_heap_free(sc_uptr p)
{
    block *b = owned((const void *)p);
    b->state = FREED;
    seal(b);
    heap.free += b->extent;
    if (!sc.opaque) sc_clear(bytes_of(b), b->size);
}

/* At the end of a test that ended well. */
void sc_heap_audit(void)
{
    block *b;
    for (b = (block *)heap.start; (sc_u8 *)b < heap.end; b = next(b)) {
        const sc_u8 *bad;
        if (sound(b)->state == FREED) continue;
        bad = damaged(b);
        if (!bad) continue;
        sc.last_site = b->site;
        fail(SC_VERDICT_HEAP_CORRUPTION, bad);
    }
}

/* The block that the byte, or a guard zone's, belongs to, so that a pointer may be one past its end; and whether it was
 * freed. */
sc_extent sc_heap_block(const void *p, sc_u32 *freed)
{
    block *b = find(p);
    sc_extent found = {0, 0};
    if (!b) return found;
    *freed = b->state == FREED;
    found.at = bytes_of(b);
    found.size = b->size;
    return found;
}
