; AVR: functions of libgcc and avr-libc that skip a `ret`. QEMU 7.2 goes astray there: where the instruction is skipped,
; it goes on at a stale address. These do the same without; what a program does not use is not linked.
    .macro function name
    .section .text.sc_\name, "ax", @progbits
    .globl \name
\name:
    .endm

; r25:r22 = r27:r26 (signed) * r19:r18 (unsigned)
    function __usmulhisi3
    call __umulhisi3
    .globl __usmulhisi3_tail
__usmulhisi3_tail:
    sbrc r27, 7
    rjmp 1f
    ret
1:  sub r24, r18
    sbc r25, r19
    ret

    function __clzsi2
    call __clzhi2
    sbrc r24, 4
    rjmp 1f
    ret
1:  movw r24, r22
    call __clzhi2
    subi r24, -16
    ret

    function __clzdi2
    call __clzsi2
    sbrc r24, 5
    rjmp 1f
    ret
1:  movw r22, r18
    movw r24, r20
    call __clzsi2
    subi r24, -32
    ret

    .macro change_case name, first, by
    function \name
    tst r25
    brne 1f
    cpi r24, \first
    brlo 1f
    cpi r24, \first + 26
    brsh 1f
    subi r24, -(\by)
1:  ret
    .endm
    change_case tolower, 'A', 32
    change_case toupper, 'a', -32
