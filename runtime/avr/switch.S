; AVR: from the runtime's stack to the program's and back, and the program's exit.
#include <avr/io.h>

    .text
    .globl sc_bare_enter, sc_bare_leave
sc_bare_enter:
    .irp r, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29
    push \r
    .endr
    in r18, _SFR_IO_ADDR(SPL)
    in r19, _SFR_IO_ADDR(SPH)
    movw r26, r22
    st X+, r18
    st X, r19
    sbiw r24, 1
    out _SFR_IO_ADDR(SPH), r25
    out _SFR_IO_ADDR(SPL), r24
    sei
    call sc_bare_program

sc_bare_leave:
    cli
    out _SFR_IO_ADDR(SPH), r25
    out _SFR_IO_ADDR(SPL), r24
    .irp r, 29, 28, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2
    pop \r
    .endr
    clr r1
    ret

; As libgcc has it; handlers registered by atexit() lie in the sections between.
    .section .fini9, "ax", @progbits
    .globl exit, _exit
exit:
_exit:
    sts sc_avr_status, r24
    sts sc_avr_status + 1, r25
    .section .fini0, "ax", @progbits
    lds r24, sc_avr_status
    lds r25, sc_avr_status + 1
    jmp sc_avr_exit
