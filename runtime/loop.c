/* The test loop: receive an input, restore the program's memory, run it to its end, tell how it ended. */
#include "snapshot.h"

int sc_main(int argc, char **argv); /* the program's main, renamed by the front-end */
void exit(int status) __attribute__((noreturn));

sc_u8 sc_input[SC_INPUT_CAPACITY] SC_RUNTIME_DATA;

#ifndef SC_READ
#define SC_READ 64u /* bytes that are taken from the link at once */
#endif
#define CANARY 0x5C0EC0DEu
/* Something wild wrote over the runtime if these change. They stand at its ends: what comes from a neighbour meets
 * them. */
static volatile sc_u32 first SC_RUNTIME_DATA_AT("first"), last SC_RUNTIME_DATA_AT("last");
static sc_u32 link_errors SC_RUNTIME_DATA;   /* damaged frames since the last END */

void sc_copy_bytes(void *to, const void *from, sc_size n)
{
    sc_u8 *t = (sc_u8 *)to;
    const sc_u8 *f = (const sc_u8 *)from;
    while (n--) *t++ = *f++;
}

void sc_fill_zero(void *to, sc_size n)
{
    sc_u8 *t = (sc_u8 *)to;
    while (n--) *t++ = 0;
}

/* The low bytes of a number. Every target is little endian. */
static void put_number(sc_u32 v, sc_u32 bytes)
{
    sc_frame_put(&v, bytes);
}

static void put_varint(sc_wide v)
{
    for (; v > 127u; v >>= 7) put_number((sc_u32)v | 128u, 1);
    put_number((sc_u32)v, 1);
}

/* Begin a message about the test that runs. */
static void begin(sc_u32 type)
{
    sc_frame_begin(type);
    put_number(sc.number, 1);
}

/* The program, in its own context: exit() so that its atexit handlers run and its streams are flushed. */
void sc_program(void)
{
    static char name[] = "program", *argv[] = {name, 0};
    static const SC_ROM sc_d no_arguments[2] = {0, 0};
    int status;
    sc.call = no_arguments; /* a call with probes: what main returns, the runtime may see */
    sc.callee = (const void *)sc_main;
    status = sc_main(1, argv);
    sc.main_returned = 1;
    exit(status);
}

void sc_end(sc_u32 verdict, sc_i32 code)
{
    if (verdict == SC_VERDICT_EXIT && sc.audit) sc.audit();
    if (verdict == SC_VERDICT_EXIT && sc.main_returned) verdict = SC_VERDICT_RETURN;
    sc.verdict = verdict;
    sc.code = code;
    sc_port_stop();
}

/* One piece of something of which `offset` bytes or items were sent before. */
void sc_send_piece(sc_u32 type, sc_u32 offset, const void *p, sc_u32 n)
{
    begin(type);
    put_varint(offset);
    sc_frame_put(p, n);
    sc_frame_end();
}

/* The program's own output, up to SC_MAX_OUTPUT bytes a test. */
void sc_log(const void *from, sc_u32 n)
{
    const sc_u8 *p = (const sc_u8 *)from;
    if (n > SC_MAX_OUTPUT - sc.log_sent) n = SC_MAX_OUTPUT - sc.log_sent;
    while (n) {
        sc_u32 part = n < sc.chunk ? n : sc.chunk;
        sc_send_piece(SC_TYPE_LOG, sc.log_sent, p, part);
        sc.log_sent += part;
        p += part;
        n -= part;
    }
}

static void send_ready(sc_u32 booted)
{
    static const sc_u8 zero = 0;
    sc_u32 capabilities = SC_CAPABILITIES | booted;
#ifdef SC_VERIFY
    capabilities |= SC_CAN_VERIFY;
#endif
    sc_port_write(&zero, 1); /* whatever came before is no part of it */
    sc_frame_begin(SC_TYPE_READY);
    put_number(SC_WIRE_VERSION, 2);
    put_number(capabilities, 2);
    put_number(sizeof(void *), 1);
    sc_frame_put(sc_build_id, 16);
    put_number(SC_INPUT_CAPACITY, 4);
    put_number(sc_port_free_ram(), 4);
    put_number(SC_CHUNK, 2);
    put_number(sc_coverage_total, 4);
    sc_frame_end();
}

/* Coverage the host has not acknowledged, in frames of up to sc.chunk bytes; returns the number of indices. */
static sc_u32 send_coverage(void)
{
    sc_u32 i, size = (sc_coverage_total + 7u) / 8u, sent = 0, room = 0;
    if (!sc.coverage_new) return 0;
    for (i = 0; i < size; i++) {
        sc_u32 fresh = sc_coverage_run[i] & ~(sc_u32)sc_coverage_acked[i];
        for (; fresh; fresh &= fresh - 1u) {
            if (!room) {
                if (sent) sc_frame_end();
                begin(SC_TYPE_COVERAGE);
                put_varint(sent);
                room = sc.chunk / 4u;
            }
            put_number(i * 8u + (sc_u32)__builtin_ctz(fresh), 4);
            room--;
            sent++;
        }
    }
    if (sent) sc_frame_end();
    return sent;
}

/* What the test before covered: the host has it, or it is forgotten. So each test tells all that the host does not
 * have, whatever ran between. */
static void settle_coverage(sc_uint is_known)
{
    sc_u32 i, size = (sc_coverage_total + 7u) / 8u;
    sc_u8 *to = is_known ? sc_coverage_acked : sc_coverage_run, *from = is_known ? sc_coverage_run : sc_coverage_acked;
    if (!sc.coverage_new) return;
    for (i = 0; i < size; i++) to[i] = from[i];
    if (!is_known) sc_snapshots_drop(); /* what they begin with has to be told again */
    sc.coverage_new = 0;
}

/* A new host knows nothing of what earlier ones made the program cover. */
static void forget_coverage(void)
{
    sc_u32 size = (sc_coverage_total + 7u) / 8u;
    sc_fill_zero(sc_coverage_run, size);
    sc_fill_zero(sc_coverage_acked, size);
    sc_snapshots_drop();
    sc.coverage_new = 0;
}

/* The enter site of the activation at a depth; 0: it is not known, or there is none. */
static sc_u32 site_at(sc_u32 depth)
{
    sc_u32 i = depth % SC_STACK_SITES;
    return sc.stack_depth[i] == (sc_d)depth ? sc.stack[i] : 0;
}

/* How and where it ended, and what its details are: not sent for a plain return of 0. */
static void put_verdict(void)
{
    sc_u32 site, depth = sc.depth;
    put_number(sc.verdict, 1);
    put_varint((sc_u32)sc.code);
    put_varint(sc.last_site);
    put_varint(sc.pc);
    put_varint(sc.address);
    do {
        site = site_at(depth--);
        put_varint(site); /* the last is 0: no site */
    } while (site);
}

static void send_end(void)
{
    sc_u32 flags = 0, coverage = send_coverage(), fixed[4];
    sc_tail tail;
    sc_event_tail(&tail);
    if (sc.matched) flags |= SC_END_MATCHED;
    if (sc.elision_failed || sc_event_count() < sc.elide) flags |= SC_END_ELISION_FAILED;
    if (flags != SC_END_MATCHED) { /* nobody wants the events */
        tail.size = 0;
        tail.offset = sc.elide;
    }
    if (first == CANARY && last == CANARY) flags |= SC_END_INTACT;
    if (sc.input_used != sc.input_size) flags |= SC_END_USED;
    if (tail.offset != sc.elide) flags |= SC_END_CHUNKED;
    if (sc.verdict | (sc_u32)sc.code | site_at(sc.depth)) flags |= SC_END_VERDICT;
    if (sc.log_sent | coverage | link_errors) flags |= SC_END_EXTRAS;
    if (sc.unchecked) flags |= SC_END_UNCHECKED;
    begin(SC_TYPE_END);
    put_number(flags, 1);
    fixed[0] = sc.path.a;
    fixed[1] = sc.path.b;
    fixed[2] = sc.operand.a ^ sc.operand.b;
    fixed[3] = sc.crc;
    sc_frame_put(fixed, sizeof fixed);
    put_varint(sc.conditions);
    put_varint(sc.branches);
    if (flags & SC_END_USED) put_varint(sc.input_used);
    if (flags & SC_END_CHUNKED) put_varint(tail.offset);
    if (flags & SC_END_VERDICT) put_verdict();
    if (flags & SC_END_EXTRAS) {
        put_varint(sc.log_sent);
        put_varint(coverage);
        put_varint(link_errors);
    }
    if (flags & SC_END_UNCHECKED) put_varint(sc.unchecked);
    sc_frame_put(tail.at, tail.size);
    sc_frame_end();
    link_errors = 0;
}

static void need_full(sc_u32 number)
{
    sc_frame_begin(SC_TYPE_NEED_FULL);
    put_number(number, 1);
    sc_frame_end();
    sc.ended = 0;
}

/* A RUN as it is read; everything after its end is 0 and sets `bad`. */
static struct {
    const sc_u8 *p, *end;
    sc_u32 bad;
} message SC_RUNTIME_DATA;

static sc_u32 take(void)
{
    if (message.p != message.end) return *message.p++;
    message.bad = 1;
    return 0;
}

static sc_u32 take_varint(void)
{
    sc_u32 v = 0, shift = 0, byte;
    do {
        byte = take();
        if (shift < 32u) v |= (byte & 127u) << shift;
        shift += 7u;
    } while (byte & 128u);
    return v;
}

static sc_u32 take_bytes(sc_u32 n)
{
    sc_u32 v = 0, shift;
    for (shift = 0; n--; shift += 8u) v |= take() << shift;
    return v;
}

/* A count and 16 bits of a hash; a count of 0 if there are none. */
static sc_u32 take_hashed(sc_u32 present, sc_u32 *hash)
{
    sc_u32 count = present ? take_varint() : 0;
    if (present) *hash = take_bytes(2);
    return count;
}

/* Make the input from what is held; 0 if that cannot be, or did not give the input that was meant. */
static sc_u32 apply(sc_u32 crc)
{
    sc_u32 at = 0;
    while (message.p != message.end) {
        sc_u32 skip = take_varint(), count = take_varint();
        if (message.bad || skip > sc.input_size - at || count > sc.input_size - at - skip ||
            count > (sc_u32)(message.end - message.p))
            return 0;
        at += skip;
        sc_snapshots_change(at, message.p, count);
        sc_copy_bytes(sc_input + at, message.p, count);
        message.p += count;
        at += count;
    }
    return sc_crc32(0, sc_input, sc.input_size) == crc;
}

/* Read a RUN; 0 if it makes no sense or the input cannot be made: then all of it is needed. */
static sc_u32 read_run(const sc_u8 *p, sc_u32 n)
{
    sc_u32 flags, number, crc;
    message.p = p;
    message.end = p + n;
    message.bad = 0;
    number = take();
    flags = take();
    crc = take_bytes(4);
    sc_snapshots_offer(flags);
    if (flags & SC_RUN_FULL) {
        sc.input_size = take_varint();
        sc.max_branches = take_varint();
        sc.watchdog_ms = take_varint();
    }
    sc.predicted = take_hashed(flags & SC_RUN_PREDICTED, &sc.predicted_hash);
    sc.elide = take_hashed(flags & SC_RUN_ELIDED, &sc.elide_crc);
    sc.flags = flags;
#ifdef SC_QUIET_STATE
    sc.quiet = flags & (SC_RUN_EAGER | SC_RUN_VECTORS) ? 0 : sc.max_branches;
#endif
    if (flags & SC_RUN_EAGER) sc.tell_from = take_varint();
    sc.chunk = flags & SC_RUN_SHORT ? take_varint() : SC_CHUNK;
    if (sc.chunk > SC_CHUNK) sc.chunk = SC_CHUNK;
    if (message.bad || sc.chunk < 4u || sc.input_size > SC_INPUT_CAPACITY || !apply(crc)) {
        sc.input_size = 0; /* no difference against it will do */
        return 0;
    }
    settle_coverage(flags & SC_RUN_ACKNOWLEDGED && sc.ended && number == ((sc.number + 1u) & 255u));
    return 1;
}

/* A test without an end: if a register of a device was read in the last sixteenth of it, that is what it waits for. */
static void find_device(void)
{
    if (sc.verdict != SC_VERDICT_HANG && sc.verdict != SC_VERDICT_WATCHDOG) return;
    if (!sc.device || sc.branches - sc.device_at > sc.branches >> 4) return;
    sc.verdict = SC_VERDICT_DEVICE_WAIT;
    sc.code = (sc_i32)sc.waited;
    sc.address = sc.device;
}

static void run(const sc_u8 *p, sc_u32 n)
{
    if (!read_run(p, n)) {
        need_full(n ? p[0] : 0);
        return;
    }
    sc.number = p[0];

    sc_port_restore();
    sc_taint_reset();
    sc_strays = 0;
    sc_forget_recent();
    sc_event_start();
    sc.running = 1;
    sc_snapshots_go();
    find_device();
    if (sc.seen) sc_note(SC_EVENT_SEEN, sc.seen);
    if (sc.given) sc_note(sc.given, sc.given_at);
    sc.ended = 1;
    send_end();
}

static void handle(sc_i32 type, const sc_u8 *p, sc_u32 n)
{
    switch (type) {
    case SC_TYPE_HELLO:
        forget_coverage();
        send_ready(0);
        break;
    case SC_TYPE_RUN:
        run(p, n);
        break;
    case SC_TYPE_AGAIN:
        if (n != 1) link_errors++;
        else if (sc.ended && p[0] == sc.number) send_end();
        else need_full(p[0]);
        break;
    case SC_TYPE_RESET:
        sc_port_reset();
        break;
    default:
        link_errors++;
    }
}

/* The host need not wait for an answer that will not come. */
static void damaged(void)
{
    link_errors++;
    sc_frame_begin(SC_TYPE_DAMAGED);
    sc_frame_end();
}

void sc_main_loop(void)
{
    static sc_u8 in[SC_READ] SC_RUNTIME_DATA;
    first = last = CANARY;
    sc.chunk = SC_CHUNK;
    send_ready(SC_CAN_BOOTED);
    for (;;) {
        sc_u32 i, n = sc_port_read(in, sizeof in);
        for (i = 0; i < n; i++) {
            const sc_u8 *payload = 0;
            sc_u32 size = 0;
            sc_i32 type = sc_frame_take(in[i], &payload, &size);
            if (type == SC_FRAME_BAD) damaged();
            else if (type != SC_FRAME_MORE) handle(type, payload, size);
        }
    }
}
