"""Every shipped board in its emulator: it boots, explores to the end, and each fault becomes its verdict."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from runner import explore, score_embed

from score_embed.board.profile import NativeRun, QemuRun, known_boards, load_board
from score_embed.contract.outcome import Run, Verdict
from score_embed.device.qemu import QemuTarget
from score_embed.image.image import build_image

BOARDS = sorted(name for name, path in known_boards().items() if isinstance(load_board(path).run, QemuRun))
LINUX = sorted(name for name, path in known_boards().items() if isinstance(load_board(path).run, NativeRun))

AVR = [name for name in BOARDS if load_board(known_boards()[name]).runtime == "avr"]

# Three ways to use memory between faults, so that a restore that forgets some of it is seen.
PROGRAM = """
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "score.h"
#ifdef __riscv
#define ILLEGAL "unimp"
#elif defined __x86_64__ || defined __i386__
#define ILLEGAL "ud2"
#elif defined __aarch64__
#define ILLEGAL ".inst 0"
#elif defined __AVR__ /* nothing traps, so what follows is not tried */
#define ILLEGAL "nop"
#else
#define ILLEGAL ".short 0xde00"
#endif
static unsigned char seen[32] = {1};
static int count;
static int deep(int n)
{
    volatile char frame[96];
    frame[0] = (char)n;
    return n ? deep(n - 1) + frame[0] : 0;
}
int main(void)
{
    volatile int zero = 0;
    uint8_t x;
    char *p = malloc(24);
    SCORE_ASSERT(seen[0] == 1 && count++ == 0 && p);
    strcpy(p, "symbolic");
    seen[0] = 2;
    SYM_U8(x);
    switch (x) {
    case 1: return deep(30000);
    case 2: return *(volatile int *)(uintptr_t)zero;
    case 3: return 10 / zero;
    case 4: for (;;) {}
#ifdef __AVR__
    case 5: return 5;
#else
    case 5: ((void (*)(void))((uintptr_t)seen | 1))();
#endif
    case 6: SCORE_ASSERT(x != 6);
    case 7: abort();
    case 8: exit(3);
    case 9: __asm__ volatile(ILLEGAL);
    }
    return strcmp(p, "symbolic") + x / 200;
}
"""
FAULTS = {
    1: "stack-overflow",
    2: "null-dereference",
    3: "division-by-zero",
    4: "hang",
    5: "invalid-memory-access",
    6: "assertion",
    7: "abort",
    9: "illegal-instruction",
}
UNSEEN = {
    "microbit": ("null-dereference",),  # no MPU: address 0 is flash, which can be read
    "riscv32-virt": ("division-by-zero",),  # gives all ones
    "aarch64-linux": ("division-by-zero",),  # gives 0
    **dict.fromkeys(AVR, ("null-dereference", "division-by-zero", "invalid-memory-access", "illegal-instruction")),
}


@pytest.mark.parametrize("board", [*BOARDS, *LINUX])
def test_each_fault_becomes_its_verdict(board: str, tmp_path: Path) -> None:
    options = ("--board", board, "--max-branches", "40000", "--check", "none")
    found = explore(tmp_path, {"faults.c": PROGRAM}, *options)
    expected = {x: kind for x, kind in FAULTS.items() if kind not in UNSEEN.get(board, ())}
    assert {bug["inputs"]["x"]: bug["kind"] for bug in found.summary["bugs"]} == expected
    assert all(bug["confirmed"] for bug in found.summary["bugs"])
    assert (found.summary["stopped"], found.summary["redundant"]) == ("exhausted", 0)
    assert found.summary["paths"] == 10


@pytest.mark.parametrize("board", ["microbit", "riscv32-virt", AVR[0]])
def test_checks_see_what_the_hardware_does_not(board: str, tmp_path: Path) -> None:
    found = explore(tmp_path, {"faults.c": PROGRAM}, "--board", board, "--max-branches", "40000").summary
    still_unseen = set(UNSEEN[board]) - {"null-dereference", "division-by-zero"}
    assert {bug["kind"] for bug in found["bugs"]} == set(FAULTS.values()) - still_unseen
    assert (found["stopped"], found["redundant"], found["paths"]) == ("exhausted", 0, 10)


PROTECTED = [
    name for name in BOARDS if name != "microbit" and load_board(known_boards()[name]).runtime in ("arm", "riscv")
]
WRITES_FLASH = """
#include <stdint.h>
#include "score.h"
static const unsigned table[64] = {1, 2, 3};
int main(void)
{
    uint8_t x;
    SYM_U8(x);
    SCORE_ASSERT(table[1] == 2);
    switch (x) {
    case 1: *(volatile unsigned *)(uintptr_t)&table[1] = 7; break;
    case 2: *(volatile unsigned char *)((uintptr_t)main & ~(uintptr_t)1) = 0; break;
    }
    return 0;
}
"""


@pytest.mark.parametrize("board", PROTECTED)
def test_what_writes_to_flash_faults(board: str, tmp_path: Path) -> None:
    found = explore(tmp_path, {"flash.c": WRITES_FLASH}, "--board", board)
    assert {bug["inputs"]["x"]: bug["kind"] for bug in found.summary["bugs"]} == dict.fromkeys(
        (1, 2), "invalid-memory-access"
    )
    assert (found.summary["stopped"], found.summary["paths"]) == ("exhausted", 3)


@pytest.mark.parametrize("board", BOARDS)
def test_the_uart_gives_the_same_paths(board: str, tmp_path: Path) -> None:
    (tmp_path / "wired.yaml").write_text(f"extends: {board}\nqemu: {{link: uart}}\n")
    program = """
        #include <stdio.h>
        #include "score.h"
        int main(void)
        {
            unsigned char b[20];
            unsigned n = 0;
            SYM_BYTES(b, sizeof b);
            for (unsigned i = 0; i < sizeof b && b[i] == "a long way to go, isn't it?"[i]; i++)
                n++;
            printf("%u of %u", n, (unsigned)sizeof b);
            return 0;
        }
    """
    found = explore(tmp_path, {"p.c": program}, "--board", "wired.yaml")
    assert (found.summary["stopped"], found.summary["paths"], found.summary["mispredicted"]) == ("exhausted", 21, 0)
    with closing(sqlite3.connect(found.folder / "campaign.db")) as record:
        printed = {row[0] for row in record.execute("SELECT output FROM tests")}
    assert printed == {f"{n} of 20" for n in range(21)}
    assert found.summary["link"]["crc_errors"] <= 1  # a HELLO that comes while the board starts is cut


@pytest.mark.parametrize("board", AVR)
def test_what_protects_an_avr(board: str, tmp_path: Path) -> None:
    """Its timer finds what the branch budget does not see, the lowest words of its stack a deep call without probes."""
    program = """
        #include <stdlib.h>
        #include "score.h"
        int fill(int n);
        extern char __put_stack_base[], __put_stack_top[];
        int main(void)
        {
            unsigned char x;
            SYM_UCHAR(x);
            if (x == 1) __asm__ volatile("1: rjmp 1b");
            if (x == 2) return fill(__put_stack_top - __put_stack_base);
            if (x == 3) atexit(abort);
            return x == 4;
        }
    """
    plain = """
        #include <string.h>
        int fill(int n) { volatile char big[n]; memset((char *)big, 1, n); return big[n / 2]; }
    """
    (tmp_path / "plain.c").write_text(plain)
    (tmp_path / "p.c").write_text(program)
    profile = load_board(known_boards()[board])
    image = build_image(profile, [tmp_path / "p.c"], native=[tmp_path / "plain.c"])
    assert isinstance(profile.run, QemuRun)
    target = QemuTarget(image.elf, image.build_id, profile.run, watchdog=0.5)
    try:
        ends = [target.run(Run(x, bytes([x]))) for x in range(1, 6)]
    finally:
        target.close()
    expected = [Verdict.WATCHDOG, Verdict.STACK_OVERFLOW, Verdict.ABORT, Verdict.RETURN, Verdict.RETURN]
    assert [end.verdict for end in ends] == expected


def test_what_the_emulated_avr_cannot_skip_is_replaced(tmp_path: Path) -> None:
    """QEMU goes astray where a `ret` is skipped, as it is in these functions of the libraries."""
    program = """
        #include <ctype.h>
        #include <stdint.h>
        #include <stdio.h>
        #include "score.h"
        int zeros(unsigned long w);
        int more_zeros(unsigned long long d);
        int main(void)
        {
            uint8_t b;
            SYM_U8(b);
            volatile uint32_t w = (uint32_t)b << (b & 15);
            volatile uint64_t d = (uint64_t)b << (b & 47);
            printf("%ld %d %d", (long)(int16_t)(b * 259) * (uint16_t)(b * 77 + 11), tolower(b), toupper(b));
            printf(" %d %d", w ? zeros(w) : 32, d ? more_zeros(d) : 64);
            return 0;
        }
    """
    plain = """
        int zeros(unsigned long w) { return __builtin_clzl(w); }
        int more_zeros(unsigned long long d) { return __builtin_clzll(d); }
    """
    (tmp_path / "p.c").write_text(program)
    (tmp_path / "plain.c").write_text(plain)
    profile = load_board(known_boards()["arduino-mega2560"])
    image = build_image(profile, [tmp_path / "p.c"], native=[tmp_path / "plain.c"])
    assert isinstance(profile.run, QemuRun)
    target = QemuTarget(image.elf, image.build_id, profile.run)
    try:
        for b in range(256):
            signed = (b * 259 + 0x8000) % 0x10000 - 0x8000
            letters = ord(chr(b).lower()) if b < 128 else b, ord(chr(b).upper()) if b < 128 else b
            zeros = 32 - (b << (b & 15)).bit_length(), 64 - (b << (b & 47)).bit_length()
            expected = " ".join(map(str, (signed * ((b * 77 + 11) % 0x10000), *letters, *zeros)))
            assert target.run(Run(b + 1, bytes([b]))).output.decode() == expected, b
    finally:
        target.close()


def test_a_project_file_and_stm32_yaml_are_all_it_takes(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(
        '#include "score.h"\nint main(void) { int x; SYM_INT(x); if (x == 7) return 1; return 0; }\n'
    )
    (tmp_path / "score-embed.yaml").write_text("sources: p.c\n")
    done = score_embed("run", "--board", "stm32.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "p on stm32: exhausted" in done.stdout
    summary = json.loads((tmp_path / "score-out" / "latest" / "summary.json").read_text())
    assert (summary["board"], summary["paths"]) == ("stm32", 2)


def test_boards_are_listed_and_shown_with_the_origin_of_each_value(tmp_path: Path) -> None:
    listed = score_embed("boards", cwd=tmp_path)
    assert listed.returncode == 0
    assert all(name in listed.stdout for name in BOARDS)
    (tmp_path / "mine.yaml").write_text("extends: stm32\nmemory: {ram: {size: 64K}}\n")
    shown = score_embed("boards", "show", "mine.yaml", cwd=tmp_path)
    lines = {line.split("#")[0].strip(): line.rpartition("# ")[2] for line in shown.stdout.splitlines()}
    assert lines["size: 64K"] == "mine.yaml:2"
    assert lines["at: 0x20000000"].endswith("boards/stm32.yaml:6")
    assert lines["compiler: arm-none-eabi-gcc"].endswith("boards/base/cortex-m.yaml:2")
