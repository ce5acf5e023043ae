@ Cortex-M: from the runtime's stack (MSP) to the program's (PSP) and back. sc_arm_landing is where a fault handler
@ returns to, with MSP as sc_arm_enter saved it.
    .syntax unified
    .thumb
    .text
    .global sc_arm_enter, sc_arm_leave, sc_arm_landing, sc_arm_fault, sc_arm_systick, sc_arm_exit_handler

    .thumb_func
    .type sc_arm_enter, %function
sc_arm_enter:
    push {r3-r11, lr}
    str sp, [r1]
    msr psp, r0
    movs r2, #2
    msr control, r2
    isb
    movs r0, #0
    mov r7, r0
    bl sc_arm_program
    udf #0

    .thumb_func
    .type sc_arm_leave, %function
sc_arm_leave:
    movs r1, #0
    msr control, r1
    isb
    mov sp, r0
    .thumb_func
    .type sc_arm_landing, %function
sc_arm_landing:
    movs r1, #0
    msr basepri, r1
    cpsie i
    pop {r3-r11, pc}

@ All faults, and NMI: r0 = the program's stack pointer, r1 = EXC_RETURN.
    .thumb_func
    .type sc_arm_fault, %function
sc_arm_fault:
    mrs r0, psp
    mov r1, lr
    b sc_arm_on_fault

    .thumb_func
    .type sc_arm_systick, %function
sc_arm_systick:
    mrs r0, psp
    mov r1, lr
    b sc_arm_on_tick

@ Leave the handler for sc_arm_landing: r0 = saved stack pointer, with room for a frame below it.
    .thumb_func
    .type sc_arm_exit_handler, %function
sc_arm_exit_handler:
    subs r0, r0, #32
    msr msp, r0
    isb
    ldr r1, =sc_arm_landing
    bic r1, r1, #1
    str r1, [r0, #24]
    mov r1, #0x01000000
    str r1, [r0, #28]
    mvn lr, #6
    bx lr
