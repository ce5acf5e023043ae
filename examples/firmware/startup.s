/* The start-up of the product: vector table, reset, handlers that nobody has written. */
    .syntax unified
    .thumb

    .section .isr_vector, "a", %progbits
    .type vector_table, %object
    .globl vector_table
vector_table:
    .word _estack
    .word Reset_Handler
    .word NMI_Handler
    .word HardFault_Handler
    .word MemManage_Handler
    .word BusFault_Handler
    .word UsageFault_Handler
    .word 0, 0, 0, 0
    .word SVC_Handler
    .word DebugMon_Handler
    .word 0
    .word PendSV_Handler
    .word SysTick_Handler
    .rept 28
    .word Default_Handler
    .endr
    .word Sample_IRQHandler     /* interrupt 28 */
    .rept 53
    .word Default_Handler
    .endr
    .size vector_table, . - vector_table

    .text
    .globl Reset_Handler
    .type Reset_Handler, %function
    .thumb_func
Reset_Handler:
    ldr r0, =_estack
    mov sp, r0
    bl SystemInit
    ldr r0, =_sdata
    ldr r1, =_edata
    ldr r2, =_sidata
    bl copy
    ldr r0, =_sccmram
    ldr r1, =_eccmram
    ldr r2, =_siccmram
    bl copy
    ldr r0, =_sbss
    ldr r1, =_ebss
    movs r2, #0
1:  cmp r0, r1
    bhs 2f
    str r2, [r0]
    adds r0, r0, #4
    b 1b
2:  bl __libc_init_array
    bl main
3:  b 3b

    .type copy, %function
    .thumb_func
copy:
    cmp r0, r1
    bhs 4f
    ldr r3, [r2]
    str r3, [r0]
    adds r0, r0, #4
    adds r2, r2, #4
    b copy
4:  bx lr
    .ltorg

    .globl Default_Handler
    .type Default_Handler, %function
    .thumb_func
Default_Handler:
    b Default_Handler

    .macro handler name
    .weak \name
    .thumb_set \name, Default_Handler
    .endm
    handler NMI_Handler
    handler HardFault_Handler
    handler MemManage_Handler
    handler BusFault_Handler
    handler UsageFault_Handler
    handler SVC_Handler
    handler DebugMon_Handler
    handler PendSV_Handler
    handler SysTick_Handler
    handler Sample_IRQHandler
