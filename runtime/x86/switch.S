/* Native: from the runtime's stack to the program's and back. sc_x86_landing is where a fault handler lands, with
 * the stack pointer set to what sc_x86_enter saved. */
    .text
    .globl sc_x86_enter, sc_x86_leave, sc_x86_landing
sc_x86_enter:
    push %rbx
    push %rbp
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, (%rsi)
    mov %rdi, %rsp
    xor %ebp, %ebp
    call sc_program
    ud2
sc_x86_leave:
    mov %rdi, %rsp
sc_x86_landing:
    cld
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbp
    pop %rbx
    ret
    .section .note.GNU-stack, "", @progbits
