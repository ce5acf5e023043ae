# RISC-V: reset, from the runtime's stack to the program's and back, traps. mscratch holds the runtime's stack pointer
# for the trap handler, so that nothing is ever pushed onto a stack that may have overflowed.
    .option arch, +zicsr
    .section .sc_reset, "ax"
    .globl sc_riscv_reset
sc_riscv_reset:
    csrw mie, zero
    csrr t0, mhartid
    bnez t0, .
    la sp, __sc_stack_top
    la t0, sc_riscv_trap
    csrw mtvec, t0
    csrw mscratch, sp
    la tp, __tls_base
    .option push
    .option norelax
    la gp, __put_data_start
    .option pop
    call sc_bare_start

    .text
    .globl sc_bare_enter, sc_bare_leave, sc_riscv_trap
sc_bare_enter:
    addi sp, sp, -64
    sw ra, 0(sp)
    sw s0, 4(sp)
    sw s1, 8(sp)
    sw s2, 12(sp)
    sw s3, 16(sp)
    sw s4, 20(sp)
    sw s5, 24(sp)
    sw s6, 28(sp)
    sw s7, 32(sp)
    sw s8, 36(sp)
    sw s9, 40(sp)
    sw s10, 44(sp)
    sw s11, 48(sp)
    sw sp, 0(a1)
    csrw mscratch, sp
    mv sp, a0
    csrsi mstatus, 8
    call sc_bare_program
    unimp

sc_bare_leave:
    csrci mstatus, 8
    mv sp, a0
    lw ra, 0(sp)
    lw s0, 4(sp)
    lw s1, 8(sp)
    lw s2, 12(sp)
    lw s3, 16(sp)
    lw s4, 20(sp)
    lw s5, 24(sp)
    lw s6, 28(sp)
    lw s7, 32(sp)
    lw s8, 36(sp)
    lw s9, 40(sp)
    lw s10, 44(sp)
    lw s11, 48(sp)
    addi sp, sp, 64
    la tp, __tls_base
    ret

# All traps: sc_riscv_on_trap(program's sp) decides. The registers it may change are kept below the runtime's frame, for
# interrupts that the program survives.
    .balign 4
sc_riscv_trap:
    csrrw sp, mscratch, sp
    addi sp, sp, -80
    sw ra, 0(sp)
    sw t0, 4(sp)
    sw t1, 8(sp)
    sw t2, 12(sp)
    sw a0, 16(sp)
    sw a1, 20(sp)
    sw a2, 24(sp)
    sw a3, 28(sp)
    sw a4, 32(sp)
    sw a5, 36(sp)
    sw a6, 40(sp)
    sw a7, 44(sp)
    sw t3, 48(sp)
    sw t4, 52(sp)
    sw t5, 56(sp)
    sw t6, 60(sp)
    csrr a0, mscratch
    call sc_riscv_on_trap
    lw ra, 0(sp)
    lw t0, 4(sp)
    lw t1, 8(sp)
    lw t2, 12(sp)
    lw a0, 16(sp)
    lw a1, 20(sp)
    lw a2, 24(sp)
    lw a3, 28(sp)
    lw a4, 32(sp)
    lw a5, 36(sp)
    lw a6, 40(sp)
    lw a7, 44(sp)
    lw t3, 48(sp)
    lw t4, 52(sp)
    lw t5, 56(sp)
    lw t6, 60(sp)
    addi sp, sp, 80
    csrrw sp, mscratch, sp
    mret
