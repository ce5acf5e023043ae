/* Cortex-M: what makes wrong accesses fault, looked at before each test, for the program may have changed it.
 *
 * What stands as it should is not written: an emulator forgets all its translated addresses at a write to the MPU.
 *
 * ARMv7-M has an MPU of regions that are powers of two, over the default map; in ARMv8-M regions cannot overlap, so
 * what no region names faults. ARMv6-M has neither MPU nor traps: there the stack's place at the end of RAM must do. */
#include "arm.h"

#define ACTLR 0xE000E008u
#define ICTR 0xE000E004u
#define NVIC_ICER 0xE000E180u
#define NVIC_ICPR 0xE000E280u
#define ICSR 0xE000ED04u
#define VTOR 0xE000ED08u
#define CCR 0xE000ED14u
#define SHCSR 0xE000ED24u
#define CPACR 0xE000ED88u
#define MPU_TYPE 0xE000ED90u
#define MPU_CTRL 0xE000ED94u
#define MPU_RNR 0xE000ED98u
#define MPU_RBAR 0xE000ED9Cu
#define MPU_RASR 0xE000EDA0u
#define MPU_RLAR 0xE000EDA0u
#define MPU_MAIR0 0xE000EDC0u
#define FPCCR 0xE000EF34u

void sc_arm_quiet(void)
{
    sc_u32 i = REGISTER(ICTR) & 15u; /* reads as 0 in ARMv6-M, which has 32 */
    do {
        REGISTER(NVIC_ICER + 4u * i) = 0xFFFFFFFFu;
        REGISTER(NVIC_ICPR + 4u * i) = 0xFFFFFFFFu;
    } while (i--);
    REGISTER(ICSR) = 1u << 27 | 1u << 25; /* nor PendSV or SysTick */
}

#if defined __ARM_ARCH_6M__

void sc_bare_protect(void)
{
    sc_arm_quiet();
}

#else

#if defined __ARM_ARCH_8M_MAIN__

enum { READ_WRITE = 1 << 1 | 1, READ_EXECUTE = 3 << 1 }; /* AP and XN */
enum { NORMAL = 0, DEVICE = 1 };
enum { ON = 1 };

static void region(sc_u32 number, sc_u32 base, sc_u32 size, sc_u32 access, sc_u32 attributes)
{
    sc_u32 limit = ((base + size - 1u) & ~31u) | attributes << 1 | 1u;
    REGISTER(MPU_RNR) = number;
    if (REGISTER(MPU_RBAR) == (base | access) && REGISTER(MPU_RLAR) == limit) return;
    REGISTER(MPU_CTRL) = 0;
    REGISTER(MPU_RBAR) = base | access;
    REGISTER(MPU_RLAR) = limit;
}

static void regions(void)
{
    sc_u32 code = SC_FLASH_BASE < SC_NULL_PAGE ? SC_NULL_PAGE : SC_FLASH_BASE;
    enum { MAIR = 0x0444 }; /* 0: normal memory, not cached; 1: device */
    if (REGISTER(MPU_MAIR0) != MAIR) REGISTER(MPU_MAIR0) = MAIR;
    region(0, code, SC_FLASH_BASE + SC_FLASH_SIZE - code, READ_EXECUTE, NORMAL);
#ifdef SC_OWN_LAYOUT
    sc_u32 guard = (sc_u32)__put_stack_base - SC_GUARD;
    region(1, SC_RAM_BASE, guard - SC_RAM_BASE, READ_WRITE, NORMAL);
    region(3, guard + SC_GUARD, SC_RAM_BASE + SC_RAM_SIZE - guard - SC_GUARD, READ_WRITE, NORMAL);
#else
    region(1, SC_RAM_BASE, SC_RAM_SIZE, READ_WRITE, NORMAL);
#endif
    region(2, 0x40000000u, 0x20000000u, READ_WRITE, DEVICE);
}

#else

enum { READ_ONLY = 6, READ_WRITE = 3, NO_ACCESS = 0, EXECUTE = 0, DATA = 1 };
enum { ON = 5 }; /* elsewhere the default map: peripherals */

static sc_u32 at(sc_u32 base, sc_u32 number)
{
    sc_u32 found = REGISTER(MPU_RBAR);
#ifdef SC_QEMU /* which reads any base as 0 (7.2) */
    if (found == number) return 1;
#endif
    return found == (base | number);
}

/* A region's size is a power of two, at least 32. */
static void region(sc_u32 number, sc_u32 base, sc_u32 size, sc_u32 access, sc_u32 no_execute)
{
    sc_u32 log2size = 32u - (sc_u32)__builtin_clz(size - 1u);
    sc_u32 what = no_execute << 28 | access << 24 | 1u << 17 | (log2size - 1u) << 1 | 1u;
    REGISTER(MPU_RNR) = number;
    if (at(base, number) && REGISTER(MPU_RASR) == what) return;
    REGISTER(MPU_CTRL) = 0;
    REGISTER(MPU_RBAR) = base; /* of the region that RNR names */
    REGISTER(MPU_RASR) = what;
}

static void regions(void)
{
    region(0, SC_FLASH_BASE, SC_FLASH_SIZE, READ_ONLY, EXECUTE);
    if (SC_NULL_PAGE) region(1, 0x00000000u, SC_NULL_PAGE, NO_ACCESS, DATA);
    region(2, SC_RAM_BASE, SC_RAM_SIZE, READ_WRITE, DATA);
    /* what lies below may not fault by itself */
    region(3, (sc_u32)__put_stack_base - SC_GUARD, SC_GUARD, NO_ACCESS, DATA);
}

#endif

void sc_bare_protect(void)
{
    sc_arm_quiet();
    REGISTER(VTOR) = (sc_u32)SC_VECTORS;
    REGISTER(ACTLR) |= 2u;       /* no write buffer: a bad store faults where it is */
    REGISTER(SHCSR) |= 7u << 16; /* MemManage, BusFault, UsageFault */
    REGISTER(CCR) |= 1u << 4;    /* division by zero traps */
#ifdef __ARM_FP
    REGISTER(CPACR) |= 0xFu << 20;
    REGISTER(FPCCR) = 1u << 31;  /* registers are stacked at once: a test that was left owes none */
    __asm__ volatile("dsb\n\tisb\n\tvmsr fpscr, %0" ::"r"(0));
#endif
    if (!(REGISTER(MPU_TYPE) & 0xFF00u)) return;
    regions();
    if (REGISTER(MPU_CTRL) != ON) REGISTER(MPU_CTRL) = ON;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
}

#endif
