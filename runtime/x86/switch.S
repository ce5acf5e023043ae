/* x86 on Linux: from the runtime's stack to the program's and back. sc_posix_landing is where a signal handler lands,
 * with the stack pointer set to what sc_posix_enter saved. The program finds the floating-point unit as a new process
 * does. */
#include "port_arch.h"
    .text
    .globl sc_posix_enter, sc_posix_leave, sc_posix_landing
#ifdef __x86_64__
/* What sc_posix_landing takes back is on the runtime's stack. */
.macro leave_runtime
    push %rbx
    push %rbp
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, (%rsi)
.endm
    .globl sc_port_mark, sc_posix_go_on
/* (mark, then): where the caller goes on is noted beside its registers, for the stack below it is its own. */
sc_port_mark:
    mov %rbx, (%rdi)
    mov %rbp, 8(%rdi)
    mov %r12, 16(%rdi)
    mov %r13, 24(%rdi)
    mov %r14, 32(%rdi)
    mov %r15, 40(%rdi)
    mov (%rsp), %rax
    mov %rax, 48(%rdi)
    lea 8(%rsp), %rax
    mov %rax, 56(%rdi)
    mov %rsp, %rbx
    mov %rdi, %rbp
    lea own_stack_top(%rip), %rsp
    call *%rsi
    mov %rbx, %rsp
    mov (%rbp), %rbx
    mov 8(%rbp), %rbp
    ret
sc_posix_go_on:
    leave_runtime
    fninit
    ldmxcsr no_exceptions(%rip)
    mov (%rdi), %rbx
    mov 8(%rdi), %rbp
    mov 16(%rdi), %r12
    mov 24(%rdi), %r13
    mov 32(%rdi), %r14
    mov 40(%rdi), %r15
    mov 56(%rdi), %rsp
    mov $1, %eax
    jmp *48(%rdi)
sc_posix_enter:
    leave_runtime
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
#ifdef __x86_64__
    .section .bss.sc_data, "aw", @nobits
    .align 16
    .skip 16384
own_stack_top:
#endif
    .section .rodata
    .align 4
no_exceptions:
    .long 0x1F80
    .section .note.GNU-stack, "", @progbits
