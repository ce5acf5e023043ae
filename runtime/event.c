/* The event stream: varints into chunks, chunks into TRACE frames; the CRC over all of it and prefix elision.
 *
 * Nothing holds the whole trace: a chunk is sent when it is full, the last one with END. A mispredicted run, and the
 * first `elide` bytes the host already holds, are counted and hashed all the same but not sent. Of a run that is eager
 * each byte is sent at once, for the target may not live to send the next. A run of vectors sends the events of
 * conditions only, and of all conditions: it is silent but for these. */
#include "snapshot.h"
#include "straight.h"

sc_u8 sc_chunk[SC_CHUNK] SC_RUNTIME_DATA;

#ifndef SC_QUIET_STATE
void sc_mix(sc_hash *h, sc_u32 x)
{
    sc_mixed(h, x);
}
#endif

void sc_event_start(void)
{
    static const SC_ROM sc_hash start = SC_HASH_START;
    sc_fill_zero(&sc.path, (sc_size)((sc_u8 *)(&sc + 1) - (sc_u8 *)&sc.path)); /* and all that follows it */
#ifdef SC_COUNT_HANDLERS
    sc_handlers = 0; /* the last test may have ended in one */
#endif
    sc.path = sc.condition = sc.operand = start;
    sc.matched = sc.predicted == 0;
}

#ifndef SC_QUIET_STATE
void sc_condition(sc_u32 x)
{
    sc_next_condition(x);
}
#endif

/* Bring the CRC up to that many bytes of the stream. */
static void hash_to(sc_u32 count)
{
    sc.crc = sc_crc32(sc.crc, sc_chunk + (sc.hashed - sc.before), count - sc.hashed);
    sc.hashed = count;
}

/* And to its end, checking the elided prefix where it ends. */
void sc_event_hashed(void)
{
    sc_u32 count = sc_event_count();
    if (sc.hashed < sc.elide && sc.elide <= count) {
        hash_to(sc.elide);
        if ((sc.crc & 0xFFFFu) != sc.elide_crc) sc.elision_failed = 1;
    }
    hash_to(count);
}

void sc_event_tail(sc_tail *tail)
{
    sc_u32 skip = 0;
    sc_event_hashed();
    if (sc.elide > sc.before) skip = sc.elide - sc.before;
    if (skip > sc.fill || sc.mispredicted || sc.elision_failed) skip = sc.fill;
    tail->at = sc_chunk + skip;
    tail->offset = sc.before + skip;
    tail->size = sc.fill - skip;
}

static void flush(void)
{
    sc_tail tail;
    sc_event_tail(&tail);
    sc_snapshots_drop(); /* they need all events in the chunk */
    if (tail.size) sc_send_piece(SC_TYPE_TRACE, tail.offset, tail.at, tail.size);
    sc.before += sc.fill;
    sc.fill = 0;
}

void sc_byte(sc_u32 byte)
{
    if (sc.flags & SC_RUN_VECTORS) return;
    if (sc.fill == sc.chunk) flush();
    sc_chunk[sc.fill++] = (sc_u8)byte;
    if (sc.flags & SC_RUN_EAGER) {
        flush();
        sc_port_push();
    }
}

void sc_varint(sc_u64 v)
{
    sc_u32 low;
#ifdef SC_QUIET_STATE
    if (sc_has_room() && v == (sc_uptr)v) {
        sc.fill = (sc_u32)(sc_put(sc_chunk + sc.fill, (sc_uptr)v) - sc_chunk);
        return;
    }
#endif
    while (v > 0xFFFFFFFFu) {
        sc_byte((sc_u32)(v & 127u) | 128u);
        v >>= 7;
    }
    for (low = (sc_u32)v; low > 127u; low >>= 7) sc_byte((low & 127u) | 128u);
    sc_byte(low);
}

void sc_signed(sc_i64 v)
{
    sc_varint((sc_u64)v << 1 ^ (v < 0 ? ~(sc_u64)0 : 0));
}

void sc_address(const void *p)
{
    sc_uptr difference = (sc_uptr)p - sc.last_address;
    sc.last_address = (sc_uptr)p;
    sc_signed((sc_i64)(__INTPTR_TYPE__)difference);
}

void sc_pass(sc_u32 what)
{
    sc_send_piece(SC_TYPE_PASSED, what, 0, 0);
    sc_port_push();
}

static void head(sc_u32 site, sc_u32 dir)
{
    sc_varint((sc_u64)site << 1 | dir);
}

/* An event of the runtime's own about a site. */
void sc_note(sc_u32 kind, sc_u32 site)
{
    head(kind, 0);
    sc_varint(site);
}

/* The head of the event of the probe that began last; names its activation if that is another than before. */
void sc_event(sc_u32 dir)
{
    if (sc.depth != sc.last_depth && !(sc.flags & SC_RUN_VECTORS)) {
        head(SC_EVENT_FRAME, 0);
        sc_signed((sc_i64)sc.depth - (sc_i64)sc.last_depth);
        sc.last_depth = sc.depth;
    }
    head(sc.last_site, dir);
    sc.sent = 1;
}
