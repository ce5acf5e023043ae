/* What score-embed explores: every way through frame_parse for up to eight bytes. */
#include "frame.h"
#include "score.h"

int main(void)
{
    unsigned char data[8], size;
    struct frame frame;

    SYM_BYTES(data, sizeof data);
    SYM_U8(size);
    SCORE_ASSUME(size <= sizeof data);
    if (frame_parse(data, size, &frame) == 0)
        SCORE_ASSERT(frame.size <= FRAME_MOST && size >= frame.size + 3u);
    return 0;
}
