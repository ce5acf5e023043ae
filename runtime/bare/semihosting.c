/* The link over semihosting: two FIFOs that the emulator opens for us in its working folder. Emulators only.
 *
 * A trap a frame instead of one a byte, and no interrupt: a round trip takes microseconds where the UART's takes a
 * millisecond. The frames are the same. (ARM: Semihosting for AArch32 and AArch64, SYS_OPEN, SYS_READ, SYS_WRITE;
 * RISC-V has taken it over.) */
#include "bare.h"

#ifdef SC_SEMIHOSTING

enum { SYS_OPEN = 1, SYS_WRITE = 5, SYS_READ = 6, SYS_EXIT_EXTENDED = 0x20 };
enum { READ_BINARY = 1, WRITE_BINARY = 5 };

static sc_u32 input SC_RUNTIME_DATA, output SC_RUNTIME_DATA, fill SC_RUNTIME_DATA;
static sc_u8 pending[2u * SC_CHUNK] SC_RUNTIME_DATA;

static sc_u32 request(sc_u32 operation, sc_u32 a, sc_u32 b, sc_u32 c)
{
    sc_u32 arguments[3];
    arguments[0] = a;
    arguments[1] = b;
    arguments[2] = c;
    return sc_port_semihost(operation, (sc_uptr)arguments);
}

#define NOTHING 0xFFFFFFFFu

/* With a status that the host knows (device/qemu.py): a program may end the emulator, too. */
static void exit_emulator(void)
{
    request(SYS_EXIT_EXTENDED, 0x20026, 86, 0); /* ADP_Stopped_ApplicationExit */
}

void sc_bare_link_start(void)
{
    input = request(SYS_OPEN, (sc_u32) "sc.in", READ_BINARY, 5);
    output = request(SYS_OPEN, (sc_u32) "sc.out", WRITE_BINARY, 6);
    fill = 0;
    /* Started again by a reset of its own: the FIFOs have no names any more. The host sees the end and starts anew. */
    if (input == NOTHING || output == NOTHING) exit_emulator();
}

static void flush(void)
{
    sc_u32 left = fill;
    while (left) left = request(SYS_WRITE, output, (sc_u32)(pending + fill - left), left); /* returns what is left */
    fill = 0;
}

void sc_port_push(void)
{
    flush();
}

sc_u32 sc_port_read(sc_u8 *to, sc_u32 n)
{
    sc_u32 left;
    SC_FEED_NOW();
    flush();
    do left = request(SYS_READ, input, (sc_u32)to, n);
    while (left >= n);
    SC_FEED_NOW();
    return n - left;
}

void sc_port_write(const sc_u8 *from, sc_u32 n)
{
    while (n--) {
        if (fill == sizeof pending) flush();
        pending[fill++] = *from++;
    }
}

#endif
