/* AVR: the watch-dog, the stack's limit and a reset.
 *
 * Nothing traps: reads through null, wild writes and divisions by zero are not seen. A stack that overflows is found
 * when a function with probes is entered, or by the lowest words of the stack when the test is over. */
#include <avr/io.h>

#include "bare.h"

sc_d sc_avr_ticks SC_RUNTIME_DATA;
sc_d sc_avr_status SC_RUNTIME_DATA;

#define TICK_MS 16u /* of Timer1, at a 64th of the clock: 4000 counts at 16 MHz */
#define COUNTS (SC_CLOCK / 64u * TICK_MS / 1000u)

/* The handler: ours, unless the program has one. Then the timer is the program's, and a hang is for the host to
 * find. */
void TIMER1_COMPA_vect(void);
void sc_avr_tick(void);
void sc_avr_expired(sc_u32 pc);
void sc_avr_exit(int status);

void sc_avr_expired(sc_u32 pc)
{
    sc_bare_watch(0);
    sc.verdict = SC_VERDICT_WATCHDOG;
    sc.pc = (sc_u64)pc << 1;
    sc_port_stop();
}

void sc_bare_watch(sc_u32 milliseconds)
{
    sc_u32 ticks = milliseconds / TICK_MS + 1u;
    if (TIMER1_COMPA_vect != sc_avr_tick) return;
    TIMSK1 = 0;
    if (!milliseconds) return;
    sc_avr_ticks = ticks < 0xFFFFu ? (sc_d)ticks : 0xFFFFu;
    TCCR1A = 0;
    TCCR1B = 1 << WGM12 | 1 << CS11 | 1 << CS10;
    OCR1A = (sc_d)(COUNTS - 1u);
    TCNT1 = 0;
    TIFR1 = 1 << OCF1A;
    TIMSK1 = 1 << OCIE1A;
}

void sc_bare_protect(void) {}

void sc_avr_exit(int status)
{
    sc_end(SC_VERDICT_EXIT, status);
}

void sc_port_reset(void)
{
    __asm__ volatile("cli\n\tjmp 0");
    __builtin_unreachable();
}
