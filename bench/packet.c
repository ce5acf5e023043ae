/* A packet as many links have it: start mark, length, records (type, length, value), checksum. 32 symbolic bytes. */
#include <stdint.h>
#include <stdio.h>

#include "score.h"

enum { SIZE = 32, START = 0x7e };

struct reading {
    uint16_t voltage, current;
    uint32_t serial;
    unsigned texts;
};

static uint8_t checksum(const uint8_t *data, unsigned count)
{
    uint8_t sum = 0;

    for (unsigned i = 0; i < count; i++)
        sum = (uint8_t)(sum + data[i]);
    return (uint8_t)~sum;
}

static int record(struct reading *reading, uint8_t type, const uint8_t *value, uint8_t length)
{
    switch (type) {
    case 1:
        if (length != 2)
            return -4;
        reading->voltage = (uint16_t)(value[0] << 8 | value[1]);
        return reading->voltage > 5000 ? -5 : 0;
    case 2:
        if (length != 2)
            return -4;
        reading->current = (uint16_t)(value[0] << 8 | value[1]);
        return 0;
    case 3:
        if (length != 4)
            return -4;
        reading->serial = (uint32_t)value[0] << 24 | (uint32_t)value[1] << 16 | (uint32_t)value[2] << 8 | value[3];
        return reading->serial == 0 ? -6 : 0;
    case 4:
        for (unsigned i = 0; i < length; i++)
            if (value[i] < ' ' || value[i] > '~')
                return -7;
        reading->texts++;
        return 0;
    default:
        return type < 0x80 ? -8 : 0; /* the high half is for others */
    }
}

static int parse(const uint8_t *data, struct reading *reading)
{
    unsigned at = 2, end;

    if (data[0] != START)
        return -1;
    end = 2u + data[1];
    if (end >= SIZE)
        return -2;
    if (checksum(data, end) != data[end])
        return -3;
    while (at + 2 <= end) {
        uint8_t length = data[at + 1];
        int result;

        if (at + 2 + length > end)
            return -9;
        result = record(reading, data[at], data + at + 2, length);
        if (result < 0)
            return result;
        at += 2u + length;
    }
    if ((uint32_t)reading->voltage * reading->current > 1000000)
        return -10;
    return at == end ? 0 : -11;
}

int main(void)
{
    uint8_t data[SIZE];
    struct reading reading = {0};
    int result;

    SYM_BYTES(data, sizeof data);
    result = parse(data, &reading);
    printf("%d: %u mV, %u mA\n", result, reading.voltage, reading.current);
    return 0;
}
