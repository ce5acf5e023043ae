/* A made-up sensor frame: length, type, three data bytes, checksum. It has one bug for score-embed to find. */
#include <stdio.h>

#include "score.h"

static unsigned average(const unsigned char *data, unsigned count, unsigned skipped)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < count; i++)
        sum += data[i];
    return sum / (count - skipped); /* nothing says that a sample is left */
}

static int receive(const unsigned char frame[6])
{
    unsigned count = frame[0];
    unsigned skipped = 0;

    if (count == 0 || count > 3)
        return -1;
    if (((frame[0] + frame[1] + frame[2] + frame[3] + frame[4]) & 0xff) != frame[5])
        return -2;
    if (frame[1] != 'A')
        return -3;
    for (unsigned i = 0; i < count; i++)
        if (frame[2 + i] == 0xff) /* the sensor's mark for "no sample" */
            skipped++;
    return (int)average(frame + 2, count, skipped);
}

int main(void)
{
    unsigned char frame[6];

    SYM_BYTES(frame, sizeof frame);
    printf("result: %d\n", receive(frame));
    return 0;
}
