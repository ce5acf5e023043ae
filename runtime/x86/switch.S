/* x86 on Linux: from the runtime's stack to the program's and back. sc_posix_landing is where a signal handler lands,
 * with the stack pointer set to what sc_posix_enter saved. The program finds the floating-point unit as a new process
 * does. */
#include "port_arch.h"
    .text
    .globl sc_posix_enter, sc_posix_leave, sc_posix_landing
#ifdef __x86_64__
sc_posix_enter:
    push %rbx
    push %rbp
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, (%rsi)
    mov %rdi, %rsp
    fninit
    ldmxcsr no_exceptions(%rip)
    xor %ebp, %ebp
    call sc_program
    ud2
sc_posix_leave:
    mov %rdi, %rsp
sc_posix_landing:
    cld
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbp
    pop %rbx
    ret
#else
sc_posix_enter:
    mov 4(%esp), %eax
    mov 8(%esp), %ecx
    push %ebx
    push %ebp
    push %esi
    push %edi
    mov %esp, (%ecx)
    mov %eax, %esp
    fninit
    ldmxcsr no_exceptions
    xor %ebp, %ebp
    call sc_program
    ud2
sc_posix_leave:
    mov 4(%esp), %esp
sc_posix_landing:
    cld
    pop %edi
    pop %esi
    pop %ebp
    pop %ebx
    ret
#endif
    .section .rodata
    .align 4
no_exceptions:
    .long 0x1F80
    .section .note.GNU-stack, "", @progbits
