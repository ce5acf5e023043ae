; AVR: the vectors, what follows a reset, and the two interrupts of the runtime. All other handlers are the program's;
; one that is missing starts the board again, as with avr-libc.
#include <avr/io.h>

#ifdef __AVR_HAVE_JMP_CALL__
#define VECTOR jmp
#define VECTORS (_VECTORS_SIZE / 4)
#else
#define VECTOR rjmp
#define VECTORS (_VECTORS_SIZE / 2)
#endif

#ifndef SC_QEMU
#define RECEIVED -1
#elif defined USART_RX_vect_num
#define RECEIVED USART_RX_vect_num
#else
#define RECEIVED USART0_RX_vect_num
#endif

    .altmacro
    .macro vector number
    VECTOR __vector_\number
    .weak __vector_\number
    .if \number == TIMER1_COMPA_vect_num
    .set __vector_\number, sc_avr_tick
    .elseif \number == RECEIVED
    .set __vector_\number, sc_avr_received
    .else
    .set __vector_\number, __bad_interrupt
    .endif
    .endm

    .macro vectors_from first
    .if \first < VECTORS
    vector \first
    vectors_from %(\first + 1)
    .endif
    .endm

    .section .sc_vectors, "ax", @progbits
    .globl __vectors
__vectors:
    VECTOR sc_avr_reset
    vectors_from 1

    .text
    .globl sc_avr_reset, sc_avr_tick, sc_avr_rest
    .weak __bad_interrupt
    .set __bad_interrupt, __vectors
sc_avr_reset:
    cli
    clr r1
    ldi r28, lo8(__sc_stack_top - 1)
    ldi r29, hi8(__sc_stack_top - 1)
    out _SFR_IO_ADDR(SPH), r29
    out _SFR_IO_ADDR(SPL), r28
#ifdef EIND
    out _SFR_IO_ADDR(EIND), r1
#endif
    VECTOR sc_bare_start

; Sleep until a byte comes. QEMU forgets where it slept, so the handler, which knows, returns to the caller.
sc_avr_rest:
    sei
    sleep
sc_avr_received:
#ifdef __AVR_3_BYTE_PC__
    pop r24
#endif
    pop r24
    pop r24
    lds r24, UCSR0B
    andi r24, lo8(~(1 << RXCIE0))
    sts UCSR0B, r24
    ret

; Counts the watch-dog's time down. At its end the program is left where it stands: sc_avr_expired(address of code, in
; words).
sc_avr_tick:
    push r24
    in r24, _SFR_IO_ADDR(SREG)
    push r24
    push r25
    lds r24, sc_avr_ticks
    lds r25, sc_avr_ticks + 1
    sbiw r24, 1
    sts sc_avr_ticks + 1, r25
    sts sc_avr_ticks, r24
    breq 1f
    pop r25
    pop r24
    out _SFR_IO_ADDR(SREG), r24
    pop r24
    reti
1:  pop r25
    pop r24
    pop r24
    clr r1
    clr r24
    clr r25
#ifdef __AVR_3_BYTE_PC__
    pop r24
#endif
    pop r23
    pop r22
    jmp sc_avr_expired
