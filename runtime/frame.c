/* Frames on the link: COBS(type | seq << 4, payload, CRC-32) | 00, and the CRC.
 *
 * The encoder streams through one 254-byte COBS block, so that a frame needs no buffer of its size; the decoder
 * undoes COBS byte by byte into one buffer that holds the largest RUN. Any byte stream is safe: what is too long,
 * badly stuffed or fails its CRC is dropped and counted by the caller. */
#include "state.h"

#define RECEIVE (SC_RUN_SIZE + SC_INPUT_CAPACITY + SC_INPUT_CAPACITY / 256u + 64u)

static struct {
    sc_u8 block[255]; /* block[0] becomes the COBS code */
    sc_u32 fill, full, crc, sequence; /* full: the last block had 254 bytes, no 0 is implied after it */
} tx SC_RUNTIME_DATA;

static struct {
    sc_u8 body[RECEIVE];
    sc_u32 size, left, pad, bad; /* left: bytes of this COBS block to come; pad: a 0 follows the block */
} rx SC_RUNTIME_DATA;

#define INTACT 0x2144DF1Cu /* CRC-32 of anything with its own CRC-32 behind it */

#ifdef SC_CRC_TABLES /* where memory is plenty: 8 KiB, made at the first use; eight bytes at a time */
static struct {
    sc_u32 ready, crc32[8][256];
} table SC_RUNTIME_DATA;

static void prepare(void)
{
    sc_u32 i, k;
    for (i = 0; i < 256; i++) {
        sc_u32 c = i;
        for (k = 0; k < 8; k++) c = (c & 1u) ? c >> 1 ^ 0xEDB88320u : c >> 1;
        table.crc32[0][i] = c;
    }
    for (k = 1; k < 8; k++) /* the same byte with k zeros behind it */
        for (i = 0; i < 256; i++)
            table.crc32[k][i] = table.crc32[0][table.crc32[k - 1][i] & 255u] ^ table.crc32[k - 1][i] >> 8;
    table.ready = 1;
}

static sc_u32 part(sc_u32 k, sc_u32 word, sc_u32 shift)
{
    return table.crc32[k][word >> shift & 255u];
}

sc_u32 sc_crc32(sc_u32 crc, const sc_u8 *p, sc_u32 n)
{
    if (!table.ready) prepare();
    crc = ~crc;
    for (; n >= 8u; n -= 8u, p += 8) {
        const struct { sc_u32 low, high; } __attribute__((packed)) *both = (const void *)p;
        sc_u32 low = both->low ^ crc, high = both->high;
        crc = part(7, low, 0) ^ part(6, low, 8) ^ part(5, low, 16) ^ part(4, low, 24);
        crc ^= part(3, high, 0) ^ part(2, high, 8) ^ part(1, high, 16) ^ part(0, high, 24);
    }
    while (n--) crc = part(0, crc ^ *p++, 0) ^ crc >> 8;
    return ~crc;
}
#else /* half a byte at a time, from 64 bytes of ROM */
static const SC_ROM sc_u32 crc32_half[16] = {
    0x00000000u, 0x1DB71064u, 0x3B6E20C8u, 0x26D930ACu, 0x76DC4190u, 0x6B6B51F4u, 0x4DB26158u, 0x5005713Cu,
    0xEDB88320u, 0xF00F9344u, 0xD6D6A3E8u, 0xCB61B38Cu, 0x9B64C2B0u, 0x86D3D2D4u, 0xA00AE278u, 0xBDBDF21Cu,
};

sc_u32 sc_crc32(sc_u32 crc, const sc_u8 *p, sc_u32 n)
{
    crc = ~crc;
    while (n--) {
        crc ^= *p++;
        crc = crc32_half[crc & 15u] ^ crc >> 4;
        crc = crc32_half[crc & 15u] ^ crc >> 4;
    }
    return ~crc;
}
#endif

static void flush_block(void)
{
    tx.block[0] = (sc_u8)tx.fill;
    sc_port_write(tx.block, tx.fill);
    tx.fill = 1;
}

static void put_byte(sc_u32 byte)
{
    if (byte) {
        tx.block[tx.fill++] = (sc_u8)byte;
        tx.full = tx.fill == 255;
        if (tx.full) flush_block();
    } else {
        flush_block();
        tx.full = 0;
    }
}

void sc_frame_begin(sc_u32 type)
{
    sc_u8 head = (sc_u8)(type | tx.sequence++ << 4);
    tx.fill = 1;
    tx.full = 0;
    tx.crc = 0;
    sc_frame_put(&head, 1);
}

void sc_frame_put(const void *from, sc_u32 n)
{
    const sc_u8 *p = (const sc_u8 *)from;
    sc_u32 i;
    tx.crc = sc_crc32(tx.crc, p, n);
    for (i = 0; i < n; i++) put_byte(p[i]);
}

void sc_frame_end(void)
{
    static const sc_u8 zero = 0;
    sc_u32 i;
    for (i = 0; i < 32u; i += 8u) put_byte(tx.crc >> i & 255u);
    if (tx.fill > 1 || !tx.full) flush_block(); /* its implied 0 is the one COBS drops */
    sc_port_write(&zero, 1);
}

static sc_i32 finish(const sc_u8 **payload, sc_u32 *size)
{
    sc_u32 n = rx.size;
    sc_u32 bad = rx.bad | (rx.left != 0) | (n < 5);
    sc_u32 empty = !rx.bad && n == 0 && !rx.left && !rx.pad;
    rx.size = rx.left = rx.pad = rx.bad = 0;
    if (empty) return SC_FRAME_MORE; /* zeros between frames */
    if (bad || sc_crc32(0, rx.body, n) != INTACT) return SC_FRAME_BAD;
    *payload = rx.body + 1;
    *size = n - 5;
    return rx.body[0] & 15u;
}

static void keep(sc_u32 byte)
{
    if (rx.size < RECEIVE) rx.body[rx.size++] = (sc_u8)byte;
    else rx.bad = 1;
}

/* Take one byte: the type of a frame that it completes, SC_FRAME_MORE, or SC_FRAME_BAD. */
sc_i32 sc_frame_take(sc_u8 byte, const sc_u8 **payload, sc_u32 *size)
{
    if (byte == 0) return finish(payload, size);
    if (rx.left) {
        rx.left--;
        keep(byte);
    } else { /* byte is a block's code; the block before it may owe a 0 */
        if (rx.pad) keep(0);
        rx.left = (sc_u32)byte - 1u;
        rx.pad = byte != 255;
    }
    return SC_FRAME_MORE;
}
