/* What the RISC-V port's files share. */
#ifndef SC_RISCV_H
#define SC_RISCV_H

#include "bare.h"

/* Debian's libraries are found for the architecture without its name for these instructions. */
#define CSR(text) ".option push\n\t.option arch, +zicsr\n\t" text "\n\t.option pop"
#define READ_CSR(name) ({ sc_u32 v; __asm__ volatile(CSR("csrr %0, " #name) : "=r"(v)); v; })
#define WRITE_CSR(name, value) __asm__ volatile(CSR("csrw " #name ", %0") : : "r"(value))

#endif
