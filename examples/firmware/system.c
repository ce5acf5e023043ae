/* Clocks, and the independent watch-dog, which nothing stops any more once it runs. */
#include "system.h"

unsigned SystemCoreClock = 16000000u;

void SystemInit(void)
{
    volatile unsigned *wdg = (volatile unsigned *)WATCHDOG;
    unsigned i;
    static const struct { unsigned offset, value; } steps[] = {WATCHDOG_START};
    for (i = 0; i < sizeof steps / sizeof *steps; i++) wdg[steps[i].offset / 4] = steps[i].value;
}

void SysTick_Handler(void)
{
    ticks++;
}
