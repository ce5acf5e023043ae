@ Cortex-M: from the runtime's stack (MSP) to the program's (PSP) and back. sc_arm_landing is where a fault handler
@ returns to, with MSP as sc_bare_enter saved it. Instructions of ARMv6-M only: they serve every Cortex-M.
    .syntax unified
    .thumb
    .text
    .global sc_bare_enter, sc_bare_leave, sc_arm_landing, sc_arm_fault, sc_arm_systick, sc_arm_exit_handler

    .thumb_func
    .type sc_bare_enter, %function
sc_bare_enter:
    push {r4-r7, lr}
    mov r4, r8
    mov r5, r9
    mov r6, r10
    mov r7, r11
    push {r3-r7}
    mov r2, sp
    str r2, [r1]
    msr psp, r0
    movs r2, #2
    msr control, r2
    isb
    movs r0, #0
    mov r7, r0
    bl sc_bare_program
    udf #0

    .thumb_func
    .type sc_bare_leave, %function
sc_bare_leave:
    mrs r1, ipsr @ a handler of the program's, too, may fail an assertion
    cmp r1, #0
    bne sc_arm_exit_handler
    movs r1, #0
    msr control, r1
    isb
    mov sp, r0
    .thumb_func
    .type sc_arm_landing, %function
sc_arm_landing:
#if __ARM_ARCH_6M__ == 0
    movs r1, #0
    msr basepri, r1
#endif
    cpsie i
    pop {r3-r7}
    mov r8, r4
    mov r9, r5
    mov r10, r6
    mov r11, r7
    pop {r4-r7, pc}

@ All faults, and NMI: r0 = the program's stack pointer, r1 = EXC_RETURN.
    .thumb_func
    .type sc_arm_fault, %function
sc_arm_fault:
    mrs r0, psp
    mov r1, lr
    ldr r2, =sc_arm_on_fault
    bx r2

    .thumb_func
    .type sc_arm_systick, %function
sc_arm_systick:
    mrs r0, psp
    mov r1, lr
    ldr r2, =sc_arm_on_tick
    bx r2

@ Leave the handler for sc_arm_landing: r0 = saved stack pointer, with room for a frame below it.
    .thumb_func
    .type sc_arm_exit_handler, %function
sc_arm_exit_handler:
    subs r0, #32
    msr msp, r0
    isb
    ldr r1, =sc_arm_landing
    movs r2, #1
    bics r1, r2
    str r1, [r0, #24]
    ldr r1, =0x01000000
    str r1, [r0, #28]
    ldr r1, =0xFFFFFFF9
    bx r1
