/* ARM on Linux: from the runtime's stack to the program's and back. sc_posix_landing is where a signal handler lands,
 * with the stack pointer set to what sc_posix_enter saved. The program finds the floating-point unit as a new process
 * does. */
#include "port_arch.h"
    .text
    .globl sc_posix_enter, sc_posix_leave, sc_posix_landing
#ifdef __aarch64__
    .type sc_posix_enter, %function
sc_posix_enter:
    sub sp, sp, #160
    stp x19, x20, [sp]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x2, sp
    str x2, [x1]
    mov sp, x0
    msr fpcr, xzr
    msr fpsr, xzr
    mov x29, xzr
    mov x30, xzr
    bl sc_program
    brk #1
    .type sc_posix_leave, %function
sc_posix_leave:
    mov sp, x0
    .type sc_posix_landing, %function
sc_posix_landing:
    ldp x19, x20, [sp]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
#else
    .syntax unified
    .arm
    .type sc_posix_enter, %function
sc_posix_enter:
    push {r4-r11, lr}
#ifdef __ARM_FP
    vpush {d8-d15}
    mov r2, #0
    vmsr fpscr, r2
#endif
    str sp, [r1]
    mov sp, r0
    mov r7, #0
    mov r11, #0
    mov lr, #0
    bl sc_program
    udf #0
    .type sc_posix_leave, %function
sc_posix_leave:
    mov sp, r0
    .type sc_posix_landing, %function
sc_posix_landing:
#ifdef __ARM_FP
    vpop {d8-d15}
#endif
    pop {r4-r11, pc}
#endif
    .section .note.GNU-stack, "", %progbits
