"""Interrupts: a handler is left alone and listed, and what it calls has probes that stay silent: no part of the path."""

from __future__ import annotations

from pathlib import Path

import pytest
from runner import explore

PROGRAM = """
#include "score.h"
volatile int ticks;
static int shared;
static int table[4];
void trigger(void);

int helper(int n)
{
    int k, sum = 0;
    for (k = 0; k < 4; k++)
        if (table[k] > n)
            sum += table[k];
    shared = 3; /* from now on it is no longer what main put there */
    return sum;
}

HANDLER
{
    ACKNOWLEDGE
    if (helper(ticks) >= 0)
        ticks++;
}

int main(void)
{
    unsigned char x;
    SYM_U8(x);
    shared = x;
    table[1] = x;
    if (x == 9)
        return 2;
    trigger();
    if (shared == 7)
        return 1;
    return table[1] == 8 && ticks == 1 ? 3 : 4;
}
"""
BOARDS = {
    "mps2-an385": (
        "void SysTick_Handler(void)",
        "",
        """
        extern volatile int ticks;
        void SysTick_Handler(void);
        static void (*vectors[64])(void) __attribute__((aligned(256)));
        void trigger(void)
        {
            int i;
            for (i = 1; i < 64; i++) vectors[i] = SysTick_Handler;
            *(void *volatile *)0xE000ED08 = vectors;            /* VTOR */
            *(volatile unsigned *)0xE000ED04 = 1u << 26;        /* SysTick is pending */
            while (!ticks) continue;
        }
        """,
    ),
    "riscv32-virt": (
        "__attribute__((interrupt, aligned(4))) void handler(void)",
        "*(volatile unsigned *)0x2000000 = 0;",
        """
        extern volatile int ticks;
        void handler(void);
        void trigger(void)
        {
            void *before;
            __asm__ volatile(".option arch, +zicsr; csrrw %0, mtvec, %1" : "=r"(before) : "r"(handler));
            *(volatile unsigned *)0x2000000 = 1;
            __asm__ volatile("csrs mie, %0; csrs mstatus, %0" : : "r"(8));
            while (!ticks) continue;
            __asm__ volatile("csrc mstatus, %0; csrc mie, %0; csrw mtvec, %1" : : "r"(8), "r"(before));
        }
        """,
    ),
    "arduino-mega2560": (
        "#include <avr/interrupt.h>\nISR(TIMER3_COMPA_vect)",
        "TIMSK3 = 0;",
        """
        #include <avr/interrupt.h>
        extern volatile int ticks;
        void trigger(void)
        {
            TCNT3 = 0;
            OCR3A = 100;
            TIMSK3 = 1 << OCIE3A;
            TCCR3B = 1;
            while (!ticks) continue;
        }
        """,
    ),
}


@pytest.mark.parametrize("board", BOARDS)
def test_what_a_handler_calls_is_no_part_of_the_path(board: str, tmp_path: Path) -> None:
    handler, acknowledge, trigger = BOARDS[board]
    text = PROGRAM.replace("HANDLER", handler).replace("ACKNOWLEDGE", acknowledge)
    files = {"p.c": text, "trigger.c": trigger}
    found = explore(tmp_path, files, "--board", board, "--verify", first={"x": 0}, native=("trigger.c",))
    assert found.summary["divergences"] == 0
    assert found.summary["paths"] == 3
    assert [row["what"] for row in found.summary["incomplete"] if not row["count"]] == [
        f"function '{name(handler)}' is not instrumented: {why(handler)}"
    ]
    assert found.summary["stopped"] in ("exhausted", "drained")


@pytest.mark.parametrize("board", BOARDS)
def test_a_test_may_end_in_a_handler(board: str, tmp_path: Path) -> None:
    handler, acknowledge, trigger = BOARDS[board]
    text = PROGRAM.replace("HANDLER", handler).replace("ACKNOWLEDGE", acknowledge)
    text = text.replace("    shared = 3;", "    SCORE_ASSERT(table[1] != 5);\n    shared = 3;")
    files = {"p.c": text, "trigger.c": trigger}
    found = explore(tmp_path, files, "--board", board, first={"x": 5}, native=("trigger.c",))
    assert [(bug["kind"], bug["line"], bug["confirmed"]) for bug in found.summary["bugs"]] == [("assertion", 14, True)]
    assert (found.summary["runs"], found.summary["paths"], found.summary["mispredicted"]) == (2, 2, 0)


def name(handler: str) -> str:
    return "__vector_32" if "ISR" in handler else handler.partition("void ")[2].partition("(")[0]


def why(handler: str) -> str:
    if "ISR" in handler:
        return "attribute signal"
    return "attribute interrupt" if "attribute" in handler else "interrupt handler"
