/* What all parts of the thermostat know. */
extern volatile unsigned ticks;
extern volatile int samples;

#ifndef WATCHDOG /* IWDG: unlock, 512 counts of 8 ms, go */
#define WATCHDOG 0x40003000
#define WATCHDOG_START {0x0, 0x5555}, {0x4, 6}, {0x8, 511}, {0x0, 0xCCCC}
#endif
