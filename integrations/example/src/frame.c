#include "frame.h"

int frame_parse(const unsigned char *data, unsigned size, struct frame *frame)
{
    unsigned char sum = 0;

    if (size < 2)
        return 1;
    if (data[0] != FRAME_START)
        return -1;
    if (data[1] > FRAME_LIMIT)
        return -1;
    frame->size = data[1];
    if (size < frame->size + 3u)
        return 1;
    for (unsigned i = 0; i < frame->size; i++) {
        frame->bytes[i] = data[2 + i];
        sum += data[2 + i];
    }
    return sum == data[2 + frame->size] ? 0 : -1;
}
