/* bench: 24; small: 2; base64: a table of 256 entries decodes four characters at a time, another one checks what comes out */
#include <stdint.h>

#include "score.h"

enum { BAD = 0xff, PAD = 0xfe, COUNT = (SIZE + 3) / 4 * 4 };

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const uint8_t weights[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
static uint8_t values[256], text[COUNT], decoded[COUNT / 4 * 3];

static void make_values(void)
{
    for (unsigned i = 0; i < 256; i++)
        values[i] = BAD;
    for (unsigned i = 0; i < 64; i++)
        values[(uint8_t)alphabet[i]] = (uint8_t)i;
    values['='] = PAD;
}

/* The bytes that four characters stand for; -1: something else stands there. */
static int decode(const uint8_t *in, uint8_t *out)
{
    uint8_t v[4];
    int count = 3;

    for (unsigned i = 0; i < 4; i++) {
        v[i] = values[in[i]];
        if (v[i] == BAD)
            return -1;
    }
    if (v[0] == PAD || v[1] == PAD)
        return -1;
    if (v[3] == PAD)
        count = v[2] == PAD ? 1 : 2;
    else if (v[2] == PAD)
        return -1;
    out[0] = (uint8_t)(v[0] << 2 | v[1] >> 4);
    out[1] = (uint8_t)(v[1] << 4 | v[2] >> 2);
    out[2] = (uint8_t)(v[2] << 6 | v[3]);
    return count;
}

int main(void)
{
    int length = 0, part = 3;
    uint8_t sum = 0;

    SYM_BYTES(text, SIZE);
    for (unsigned i = SIZE; i < COUNT; i++)
        text[i] = '=';
    make_values();
    for (unsigned i = 0; i < COUNT && part == 3; i += 4) {
        part = decode(text + i, decoded + length);
        if (part < 0)
            return 1;
        length += part;
    }
    for (int i = 0; i < length; i++)
        sum = (uint8_t)(sum + weights[decoded[i] & 15]);
    return sum > 5 ? 2 : 0;
}
