"""Interrupts: the probes of a handler, and of what it calls, stay silent: it is no part of the path, and listed. What
they still see is that symbolic data is read there: then the campaign is `drained`."""

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
SEEN = "symbolic data in an interrupt handler"
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
        f"interrupt handler '{name(handler)}': what interrupts call has no part in paths and coverage"
    ]
    seen = {(row["what"], row["line"]) for row in found.summary["incomplete"] if row["count"]}
    assert {row for row in seen if row[0] == SEEN} == {(SEEN, 12), (SEEN, 13)}  # the last place in each test
    assert found.summary["stopped"] == "drained"


READINGS = {
    "if (shared > 100) flag = 1;": True,  # by name
    "local = *reach; if (local > 100) flag = 1;": True,  # through a pointer
    "copied = packet; if (copied.type > 100) flag = 1;": True,  # as a whole
    "if (of(packet) > 100) flag = 1;": True,  # as an argument
    "memcpy(&copied, &packet, sizeof copied); flag = copied.type > 100;": True,
    "{ static int again; SYM_INT(again); flag = again > 100; }": True,
    "shared = 3; packet.length = 5; flag = packet.length + shared - 8;": False,  # written first
    "for (local = 0; local < 8; local++) scratch[local] = ticks; flag = scratch[7];": False,
    "if (ticks > 100) flag = 1;": False,
}
ELSEWHERE = ("if (shared > 100) flag = 1;", "if (ticks > 100) flag = 1;")


@pytest.mark.parametrize(
    ("board", "reading"),
    [("mps2-an385", reading) for reading in READINGS]
    + [(board, reading) for board in BOARDS if board != "mps2-an385" for reading in ELSEWHERE],
)
def test_symbolic_data_that_a_handler_reads_is_noted(board: str, reading: str, tmp_path: Path) -> None:
    """main branches on what the handler makes of it: a path is missing. Where it cannot see any, none is."""
    seen = READINGS[reading]
    handler, acknowledge, trigger = BOARDS[board]
    text = f"""
        #include <string.h>
        #include "score.h"
        struct packet {{ unsigned char type, length; }};
        volatile int ticks;
        static int shared, flag, *reach = &shared, local;
        static struct packet packet, copied;
        static int of(struct packet given) {{ return given.type; }}
        void trigger(void);
        static void use(void)
        {{
            unsigned char scratch[8];
            (void)scratch;
            {reading}
        }}
        {handler}
        {{
            {acknowledge}
            use();
            {reading if "scratch" not in reading else ""}
            ticks++;
        }}
        int main(void)
        {{
            unsigned char x;
            SYM_U8(x);
            shared = packet.type = packet.length = x;
            if (x > 200) return 1;
            trigger();
            if (flag) return 2;
            return 0;
        }}
    """
    native = () if board == "mps2-an385" else ("t.c",)
    found = explore(tmp_path, {"p.c": text, "t.c": trigger}, "--board", board, first={"x": 0}, native=native)
    whats = {row["what"] for row in found.summary["incomplete"] if row["count"]}
    assert whats == ({SEEN} if seen else set())
    lines = {number for number, line in enumerate(text.splitlines(), 1) if reading in line}
    if "memcpy" not in reading:  # there it is the model that reads
        assert all(row["line"] in lines for row in found.summary["incomplete"] if row["what"] == SEEN)
    assert found.summary["stopped"] == ("drained" if seen else "exhausted")
    assert found.summary["divergences"] == 0


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


@pytest.mark.parametrize("board", ["mps2-an385", "arduino-mega2560"])
@pytest.mark.parametrize("symbolic", ["shared", "other"])
def test_a_handler_without_probes_is_taken_to_read_what_its_file_names(
    board: str, symbolic: str, tmp_path: Path
) -> None:
    handler, acknowledge, trigger = BOARDS[board]
    reading = f"extern int shared, flag;\n{handler} {{ {acknowledge} if (shared > 100) flag = 1; ticks++; }}\n"
    text = f"""
        #include "score.h"
        volatile int ticks;
        int shared, flag;
        static int other;
        void trigger(void);
        int main(void)
        {{
            unsigned char x;
            SYM_U8(x);
            {symbolic} = x;
            trigger();
            if (flag) return 2;
            return other == 3;
        }}
    """
    files = {"p.c": text, "t.c": trigger + reading}
    found = explore(tmp_path, files, "--board", board, first={"x": 0}, native=("t.c",))
    noted = {(row["what"], row["line"]) for row in found.summary["incomplete"] if row["count"]}
    stored = ("symbolic data where an interrupt handler without probes can read it", 11)
    assert (stored in noted) == (symbolic == "shared")
    assert (found.summary["stopped"] == "drained") == bool(noted)
    assert symbolic == "shared" or not noted


HAL = """
typedef struct { volatile unsigned status; unsigned char received; } UART_HandleTypeDef;
"""


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
def test_what_is_called_or_has_parameters_is_a_function_like_any(board: str, tmp_path: Path) -> None:
    """As ST's library has it: the handler in the table calls one with a parameter, which others call, too."""
    files = {
        "hal.c": HAL
        + """
        int HAL_UART_IRQHandler(UART_HandleTypeDef *huart)
        {
            if (huart->status & 1) return huart->received == 7 ? 3 : 2;
            return 0;
        }
        static int polled;
        void Poll_IRQHandler(void) { if (polled == 9) polled = 1; }
        """,
        "main.c": HAL
        + """
        #include "score.h"
        int HAL_UART_IRQHandler(UART_HandleTypeDef *huart);
        void Poll_IRQHandler(void);
        static UART_HandleTypeDef uart;
        int ticks;
        void USART1_IRQHandler(void) { ticks = HAL_UART_IRQHandler(&uart); }
        int main(void)
        {
            SYM_UINT(uart.status);
            SYM_U8(uart.received);
            Poll_IRQHandler();
            return HAL_UART_IRQHandler(&uart);
        }
        """,
    }
    found = explore(tmp_path, files, "--board", board)
    assert (found.summary["paths"], found.summary["stopped"]) == (3, "exhausted")
    listed = [row["what"].partition(":")[0] for row in found.summary["incomplete"]]
    assert listed == ["interrupt handler 'USART1_IRQHandler'"]
