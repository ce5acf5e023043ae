/* The test loop: receive an input, restore the program's memory, run it to its end, tell how it ended. */
#include "state.h"

int sc_main(int argc, char **argv); /* the program's main, renamed by the front-end */
void exit(int status) __attribute__((noreturn));

sc_u8 sc_input[SC_INPUT_CAPACITY] SC_RUNTIME_DATA;

#define CANARY 0x5C0EC0DEu
static sc_u32 canary[2] SC_RUNTIME_DATA;   /* something wild wrote over the runtime if these change */
static sc_u32 main_returned SC_RUNTIME_DATA; /* sc_main returned; exit() is running */
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

static sc_u32 u32(const sc_u8 *p)
{
    return p[0] | (sc_u32)p[1] << 8 | (sc_u32)p[2] << 16 | (sc_u32)p[3] << 24;
}

static void put(sc_u64 v, sc_u32 bytes)
{
    sc_u8 out[8];
    sc_u32 i;
    for (i = 0; i < bytes; i++) out[i] = (sc_u8)(v >> 8u * i);
    sc_frame_put(out, bytes);
}

/* The program, in its own context: exit() so that its atexit handlers run and its streams are flushed. */
void sc_program(void)
{
    static char name[] = "program", *argv[] = {name, 0};
    int status = sc_main(1, argv);
    main_returned = 1;
    exit(status);
}

void sc_end(sc_u32 verdict, sc_i32 code)
{
    if (verdict == SC_VERDICT_EXIT && main_returned) verdict = SC_VERDICT_RETURN;
    sc.verdict = verdict;
    sc.code = code;
    sc_port_stop();
}

/* The program's own output, up to SC_MAX_OUTPUT bytes a test. */
void sc_log(const void *from, sc_u32 n)
{
    const sc_u8 *p = (const sc_u8 *)from;
    if (n > SC_MAX_OUTPUT - sc.log_sent) n = SC_MAX_OUTPUT - sc.log_sent;
    while (n) {
        sc_u32 part = n < sc.chunk ? n : sc.chunk;
        sc_frame_begin(SC_TYPE_LOG);
        put(sc.number, 4);
        put(sc.log_sent, 4);
        sc_frame_put(p, part);
        sc_frame_end();
        sc.log_sent += part;
        p += part;
        n -= part;
    }
}

static void send_ready(sc_u32 booted)
{
    sc_u32 capabilities = SC_CAPABILITIES | booted;
#ifdef SC_VERIFY
    capabilities |= SC_CAN_VERIFY;
#endif
    sc_frame_begin(SC_TYPE_READY);
    put(SC_WIRE_VERSION, 2);
    put(capabilities, 2);
    put(sizeof(void *), 1);
    sc_frame_put(sc_build_id, 16);
    put(SC_INPUT_CAPACITY, 4);
    put(sc_port_free_ram(), 4);
    put(SC_CHUNK, 2);
    put(sc_coverage_total, 4);
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
                sc_frame_begin(SC_TYPE_COVERAGE);
                put(sc.number, 4);
                put(sent, 4);
                room = sc.chunk / 4u;
            }
            put(i * 8u + (sc_u32)__builtin_ctz(fresh), 4);
            room--;
            sent++;
        }
    }
    if (sent) sc_frame_end();
    return sent;
}

static void acknowledge(void)
{
    sc_u32 i, size = (sc_coverage_total + 7u) / 8u;
    if (!sc.coverage_new) return;
    for (i = 0; i < size; i++) sc_coverage_acked[i] |= sc_coverage_run[i];
    sc.coverage_new = 0;
}

/* A new host knows nothing of what earlier ones made the program cover. */
static void forget_coverage(void)
{
    sc_u32 size = (sc_coverage_total + 7u) / 8u;
    sc_fill_zero(sc_coverage_run, size);
    sc_fill_zero(sc_coverage_acked, size);
    sc.coverage_new = 0;
}

/* Sites of the activations, innermost first: as many as are still known. */
static sc_u32 stack_sites(sc_u32 *out)
{
    sc_u32 n = 0, depth;
    for (depth = sc.depth; depth && n < SC_STACK_SITES; depth--) {
        if (sc.stack_depth[depth % SC_STACK_SITES] != depth) break;
        out[n++] = sc.stack[depth % SC_STACK_SITES];
    }
    return n;
}

static void send_end(void)
{
    sc_u32 stack[SC_STACK_SITES], n = stack_sites(stack), i, flags = 0, coverage = send_coverage();
    if (sc.matched) flags |= SC_END_MATCHED;
    if (sc.elision_failed || sc.count < sc.elide) flags |= SC_END_ELISION_FAILED;
    if (canary[0] == CANARY && canary[1] == CANARY) flags |= SC_END_INTACT;
    if (sc.code || sc.pc || sc.address) flags |= SC_END_DETAILS;
    sc_frame_begin(SC_TYPE_END);
    put(sc.number, 4);
    put(sc.verdict, 1);
    put(flags, 1);
    put(n, 1);
    put(sc.last_site, 4);
    put(sc_hash_value(&sc.path), 8);
    put(sc.conditions, 4);
    put(sc_hash_value(&sc.operand), 8);
    put(sc.count, 4);
    put(sc.crc, 4);
    put(sc.input_crc, 4);
    put(sc.input_used, 4);
    put(sc.branches, 4);
    put(sc.log_sent, 4);
    put(coverage, 4);
    put(link_errors, 4);
    if (flags & SC_END_DETAILS) {
        put((sc_u32)sc.code, 4);
        put(sc.pc, 8);
        put(sc.address, 8);
    }
    for (i = 0; i < n; i++) put(stack[i], 4);
    sc_frame_end();
    link_errors = 0;
}

static void need_full(sc_u32 number)
{
    sc.ended = 0;
    sc_frame_begin(SC_TYPE_NEED_FULL);
    put(number, 4);
    sc_frame_end();
}

/* A RUN as it is read; everything after its end is 0 and sets `bad`. */
static struct {
    const sc_u8 *p;
    sc_u32 left, bad;
} message SC_RUNTIME_DATA;

static sc_u32 take(void)
{
    if (!message.left) {
        message.bad = 1;
        return 0;
    }
    message.left--;
    return *message.p++;
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

static sc_u32 take_u32(void)
{
    sc_u32 v = take();
    v |= take() << 8;
    v |= take() << 16;
    return v | take() << 24;
}

/* Make the input from what is held; 0 if that cannot be, or did not give the input that was meant. */
static sc_u32 apply(sc_u32 full, sc_u32 crc, sc_u32 base, sc_u32 size)
{
    sc_u32 at = 0;
    if (size > SC_INPUT_CAPACITY) return 0;
    if (!full && (size != sc.input_size || sc_crc32(0, sc_input, size) != base)) return 0;
    while (message.left) {
        sc_u32 skip = take_varint(), count = take_varint();
        if (message.bad || skip > size - at || count > size - at - skip || count > message.left) return 0;
        at += skip;
        sc_copy_bytes(sc_input + at, message.p, count);
        message.p += count;
        message.left -= count;
        at += count;
    }
    sc.input_size = size;
    sc.input_crc = sc_crc32(0, sc_input, size);
    return sc.input_crc == crc;
}

static void run(const sc_u8 *p, sc_u32 n)
{
    sc_u32 number, acknowledged, flags, crc, base = 0, size, chunk;
    message.p = p;
    message.left = n;
    message.bad = 0;
    number = take_varint();
    acknowledged = number - take_varint();
    flags = take();
    crc = take_u32();
    if (!(flags & SC_RUN_FULL)) base = take_u32();
    size = take_varint();
    sc.max_branches = take_varint();
    sc.watchdog_ms = take_varint();
    sc.predicted = sc.elide = 0;
    if (flags & SC_RUN_PREDICTED) {
        sc.predicted = take_varint();
        sc.predicted_hash = take_u32();
        sc.predicted_hash |= (sc_u64)take_u32() << 32;
    }
    if (flags & SC_RUN_ELIDED) {
        sc.elide = take_varint();
        sc.elide_crc = take_u32();
    }
    chunk = flags & SC_RUN_SHORT ? take_varint() : SC_CHUNK;
    if (message.bad || chunk < 4u) {
        link_errors++;
        return;
    }
    sc.chunk = chunk < SC_CHUNK ? chunk : SC_CHUNK;
    if (acknowledged == sc.number && sc.ended) acknowledge();
    if (!apply(flags & SC_RUN_FULL, crc, base, size)) {
        need_full(number);
        return;
    }
    sc.number = number;

    sc_port_restore();
    sc_taint_reset();
    sc_event_start();
    sc.input_used = sc.last_site = sc.log_sent = 0;
    sc.call = 0;
    sc.callee = sc.returned = 0;
    sc.structs = sc.struct_args_bound = sc.opaque = sc.depth = 0;
    sc.pc = sc.address = 0;
    sc_fill_zero(sc.stack_depth, sizeof sc.stack_depth);
    main_returned = 0;
    sc.running = 1;
    sc_port_run(sc.watchdog_ms);
    sc_event_flush();
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
        if (n != 4) link_errors++;
        else if (sc.ended && u32(p) == sc.number) send_end();
        else need_full(u32(p));
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
    static sc_u8 in[64] SC_RUNTIME_DATA;
    canary[0] = canary[1] = CANARY;
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
