/* bytes: 2; constructs: typedefs of arrays, function types and structs; const and volatile; sizeof; _Bool; casts; grouped-labels: no; folded-conditional: no */
#include <stdint.h>
#include <stdio.h>
#include "score.h"

typedef uint8_t frame_t[2];
typedef int16_t sample_t;
typedef sample_t decode_t(const frame_t frame);
typedef struct { decode_t *decode; volatile uint8_t status; _Bool ready; } device_t;

static sample_t big_endian(const frame_t frame) { return (sample_t)(frame[0] << 8 | frame[1]); }
static sample_t little_endian(const uint8_t frame[]) { return (sample_t)(frame[1] << 8 | frame[0]); }

int main(void)
{
    frame_t frame;
    device_t device = { big_endian, 0, 0 };
    const device_t *view = &device;
    SYM_BYTES(frame, sizeof(frame_t));
    device.ready = frame[0];
    if (device.ready && frame[0] >> 7)
        device.decode = little_endian;
    device.status = (uint8_t)(frame[0] ^ frame[1]);
    if (view->status == 0x5a)
        device.ready = !device.ready;
    if (view->decode(frame) > (sample_t)0x1234)
        device.status |= 1;
    if ((size_t)frame[1] < sizeof(device_t *))
        device.status += 2;
    printf("%d %d %d\n", view->decode(frame), device.status, (int)device.ready);
    return 0;
}
