/* Cortex-M: the watch-dog over a test, by SysTick, by a timer that the profile names, or not at all, and the ticks that
 * wake a processor that waits. Firmware that needs SysTick itself has one of the others. */
#include "arm.h"

#define SYST_CSR 0xE000E010u
#define SYST_RVR 0xE000E014u
#define SYST_CVR 0xE000E018u
#define ICSR 0xE000ED04u
#ifdef SC_SEMIHOSTING
#define TICK_MS 20u
#else
#define TICK_MS 10u
#endif
#define CLOCK_KHZ (SC_CLOCK / 1000u)
#define RELOAD (CLOCK_KHZ * TICK_MS - 1u)

void sc_arm_on_tick(const sc_u32 *psp, sc_u32 exc_return);

/* SysTick's interrupts, or none, and none that waits. */
void sc_arm_ticks(sc_u32 on)
{
    REGISTER(SYST_CSR) = 0;
    REGISTER(SYST_RVR) = RELOAD;
    REGISTER(SYST_CVR) = 0;
    if (on) REGISTER(SYST_CSR) = 7;
    else REGISTER(ICSR) = 1u << 25;
}

#ifdef SC_WATCHDOG_NONE /* the host sees that no answer comes */

void sc_arm_on_tick(const sc_u32 *psp, sc_u32 exc_return)
{
    (void)psp;
    (void)exc_return;
}

void sc_bare_watch(sc_u32 milliseconds)
{
    (void)milliseconds;
    sc_arm_ticks(0);
}

#else

static sc_u32 ticks_left SC_RUNTIME_DATA;

#ifdef SC_WATCHDOG_TIMER
#ifdef SC_TIMER_STM32 /* TIM2 to TIM5 (RM0090, chapter 18); its clock is for `setup` */
#define TIMER_CR1 (SC_TIMER + 0x00u)
#define TIMER_DIER (SC_TIMER + 0x0Cu)
#define TIMER_SR (SC_TIMER + 0x10u)
#define TIMER_EGR (SC_TIMER + 0x14u)
#define TIMER_PSC (SC_TIMER + 0x28u)
#define TIMER_ARR (SC_TIMER + 0x2Cu)

static void tick_start(void)
{
    REGISTER(TIMER_PSC) = SC_TIMER_HZ / 10000u - 1u;
    REGISTER(TIMER_ARR) = 10u * TICK_MS - 1u;
    REGISTER(TIMER_EGR) = 1;
    REGISTER(TIMER_SR) = 0;
    REGISTER(TIMER_DIER) = 1;
    REGISTER(TIMER_CR1) = 1;
}

static void tick_stop(void)
{
    REGISTER(TIMER_CR1) = 0;
    REGISTER(TIMER_DIER) = 0;
    REGISTER(TIMER_SR) = 0;
}

static void tick_seen(void)
{
    REGISTER(TIMER_SR) = 0;
}
#elif defined SC_TIMER_CMSDK /* CMSDK TRM, chapter 4.1 */
#define TIMER_CTRL (SC_TIMER + 0x0u)
#define TIMER_VALUE (SC_TIMER + 0x4u)
#define TIMER_RELOAD (SC_TIMER + 0x8u)
#define TIMER_CLEAR (SC_TIMER + 0xCu)

static void tick_start(void)
{
    REGISTER(TIMER_RELOAD) = SC_TIMER_HZ / 1000u * TICK_MS - 1u;
    REGISTER(TIMER_VALUE) = SC_TIMER_HZ / 1000u * TICK_MS - 1u;
    REGISTER(TIMER_CTRL) = 1u | 8u;
}

static void tick_stop(void)
{
    REGISTER(TIMER_CTRL) = 0;
    REGISTER(TIMER_CLEAR) = 1;
}

static void tick_seen(void)
{
    REGISTER(TIMER_CLEAR) = 1;
}
#else
#error "the profile's `timer: kind` has no driver on this architecture"
#endif

#define NVIC_ISER (0xE000E100u + 4u * (SC_TIMER_IRQ / 32u))
#define NVIC_ICER (0xE000E180u + 4u * (SC_TIMER_IRQ / 32u))
#define NVIC_ICPR (0xE000E280u + 4u * (SC_TIMER_IRQ / 32u))
#define LINE (1u << SC_TIMER_IRQ % 32u)

void sc_bare_watch(sc_u32 milliseconds)
{
    sc_arm_ticks(0); /* the program may have left it on */
    tick_stop();
    REGISTER(NVIC_ICER) = LINE;
    REGISTER(NVIC_ICPR) = LINE;
    ticks_left = milliseconds / TICK_MS + 1u;
    if (!milliseconds) return;
    tick_start();
    REGISTER(NVIC_ISER) = LINE;
}

#else

static void tick_seen(void) {}

#ifdef SC_SEMIHOSTING
/* SysTick runs on between tests, without its interrupt: a timer that is set wakes an emulator's main loop, which takes
 * 45 us. It is set again when less than half of its time is left, so that no short test has a tick in it. */
void sc_bare_watch(sc_u32 milliseconds)
{
    enum { RUNS = 5, INTERRUPTS = 7 };
    sc_u32 is_late = REGISTER(SYST_CVR) < CLOCK_KHZ * TICK_MS / 2u;
    ticks_left = milliseconds / TICK_MS + 1u;
    if (!milliseconds) {
        REGISTER(SYST_CSR) = RUNS;
        REGISTER(ICSR) = 1u << 25;
    } else if ((REGISTER(SYST_CSR) & RUNS) != RUNS || REGISTER(SYST_RVR) != RELOAD || is_late) {
        sc_arm_ticks(1);
    } else {
        REGISTER(SYST_CSR) = INTERRUPTS;
    }
}
#else
void sc_bare_watch(sc_u32 milliseconds)
{
    ticks_left = milliseconds / TICK_MS + 1u;
    sc_arm_ticks(milliseconds);
}
#endif

#endif

void sc_arm_on_tick(const sc_u32 *psp, sc_u32 exc_return)
{
    tick_seen();
    if (ticks_left && --ticks_left == 0 && sc.running && SC_TO_PROGRAM(exc_return))
        sc_arm_leave(psp, SC_VERDICT_WATCHDOG);
}

#endif
