/* A thermostat: a command of four bytes, a limit for each mode, a sample by interrupt. */
#include "driver.h"
#include "score.h"
#include "system.h"

#ifndef CCMRAM
#define CCMRAM __attribute__((section(".ccmram"))) /* fast memory, that the start-up fills */
#define NOINIT __attribute__((section(".noinit"))) /* keeps its value over a reset */
#endif

volatile unsigned ticks;
volatile int samples;
static CCMRAM int limits[3] = {18, 21, 24};
static NOINIT unsigned starts;
static float gain = 1.5f;

void Sample_IRQHandler(void)
{
    samples++;
}

static int heating(const unsigned char *command)
{
    int limit;
    if (command[0] != 0xA5 || (unsigned char)(command[1] + command[2]) != command[3]) return -1;
    switch (command[1]) {
    case 'n': limit = limits[0]; break;
    case 'd': limit = limits[1]; break;
    case 'x': limits[2] = limit = (int)(limits[2] * gain); break;
    default: return -2;
    }
    sample_start();
    SCORE_ASSERT(samples == 1);
    if (command[2] > 40) return -3;
    SCORE_ASSERT(command[2] != 33); /* the bug */
    return sample_value(18) >= limit;
}

int main(void)
{
    unsigned char command[4];
    SCORE_ASSERT(starts == 0 && samples == 0 && limits[2] == 24 && sample_value(0) == 2); /* as after a reset */
    starts++;
    SYM_BYTES(command, sizeof command);
    return heating(command) == 1 ? 1 : 0;
}
