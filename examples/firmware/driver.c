#include "driver.h"

#define NVIC_ISER ((volatile unsigned *)0xE000E100)
#define NVIC_ISPR ((volatile unsigned *)0xE000E200)
#define SAMPLE 28

static int offset = 2;

void sample_start(void)
{
    NVIC_ISER[SAMPLE / 32] = 1u << SAMPLE % 32;
    NVIC_ISPR[SAMPLE / 32] = 1u << SAMPLE % 32;
    __asm__ volatile("dsb\n\tisb");
}

int sample_value(int raw)
{
    return raw + offset++; /* remembers: each test must find it as it was */
}
