/* Fixed-point and calendar arithmetic with * / % and << on unknowns, as controllers and loggers do it. */
#include <stdint.h>
#include <stdio.h>

#include "score.h"

static int control(int16_t wanted, int16_t measured, uint8_t gain, uint8_t shift)
{
    int32_t error = wanted - measured;
    int32_t output = error * gain;

    if (shift > 12)
        return -1;
    output = output * 4 + (1 << shift);
    if (output / (gain + 1) > 4000)
        return 1;
    if (output % 1000 == 999)
        return 2;
    return output << 2 > 20000 ? 3 : 0;
}

static int date(uint16_t days)
{
    unsigned year = days / 1461 * 4;
    unsigned rest = days % 1461;

    year += rest / 366;
    if (year % 100 == 0 && year % 400 != 0)
        return 1;
    if (rest % 7 == 3 && year % 4 == 2)
        return 2;
    return year * 12 > 1500 ? 3 : 0;
}

static unsigned gcd(uint8_t a, uint8_t b)
{
    unsigned steps = 0;

    while (b != 0 && steps < 4) {
        uint8_t rest = a % b;

        a = b;
        b = rest;
        steps++;
    }
    return steps;
}

int main(void)
{
    int16_t wanted, measured;
    uint16_t days;
    uint8_t gain, shift;
    int state;

    SYM_I16(wanted);
    SYM_I16(measured);
    SYM_U8(gain);
    SYM_U8(shift);
    SYM_U16(days);
    state = control(wanted, measured, gain, shift);
    state = state * 4 + date(days);
    if ((days ^ wanted) * 3 == measured)
        state += 100;
    state += (int)gcd(gain, shift) * 1000;
    printf("%d\n", state);
    return 0;
}
