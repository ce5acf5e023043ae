/* zlib 1.2.13: what inflate makes of six bytes, with a window and an output of 256. What comes byte by byte is
   understood as what comes at once. Memory comes from an array: a board needs no heap for it. */
#include <string.h>

#include "score.h"
#include "zlib.h"

#define LENGTH 6
#define OUT 256

static unsigned char arena[2][12000];
static unsigned used;

static voidpf take(voidpf which, uInt items, uInt size)
{
    unsigned char *piece = (unsigned char *) which + used;
    used += (items * size + 15) / 16 * 16;
    return used <= sizeof arena[0] ? piece : Z_NULL;
}

static void leave(voidpf which, voidpf piece)
{
}

static int start(z_stream *stream, int number, unsigned char *out)
{
    memset(stream, 0, sizeof *stream);
    used = 0;
    stream->zalloc = take;
    stream->zfree = leave;
    stream->opaque = arena[number];
    stream->next_out = out;
    stream->avail_out = OUT;
    return inflateInit2(stream, -8);
}

int main(void)
{
    static unsigned char text[LENGTH], out[2][OUT];
    z_stream whole, bytes;
    int result, again = Z_OK;

    SYM_BYTES(text, LENGTH);
    if (start(&whole, 0, out[0]) != Z_OK)
        return 1;
    whole.next_in = text;
    whole.avail_in = LENGTH;
    result = inflate(&whole, Z_SYNC_FLUSH);
    if (start(&bytes, 1, out[1]) != Z_OK)
        return 1;
    for (int i = 0; i < LENGTH && again == Z_OK; i++) {
        bytes.next_in = text + i;
        bytes.avail_in = 1;
        again = inflate(&bytes, Z_SYNC_FLUSH);
    }
    SCORE_ASSERT(again == result || again == Z_BUF_ERROR || result == Z_BUF_ERROR);
    SCORE_ASSERT(bytes.total_out == whole.total_out);
    SCORE_ASSERT(memcmp(out[0], out[1], whole.total_out) == 0);
    return 0;
}
