"""Firmware with its own start-up, linker script, archive, interrupt handler and watch-dog: docs/firmware.md,
literally."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from runner import message, score_embed

from score_embed.board.profile import load_board
from score_embed.campaign import opening
from score_embed.device.wired import WiredTarget
from score_embed.errors import TargetError
from score_embed.image.image import build_image

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "firmware.md").read_text(encoding="utf-8")
((BUILD, RUN), (PROFILE,)) = (re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL) for kind in ("sh", "yaml"))
STM32_FLAGS = BUILD.partition("gcc ")[2].partition(" -Os")[0].split()

MPS2_MEMORY = """
MEMORY
{
    FLASH (rx)  : ORIGIN = 0, LENGTH = 4M
    RAM (xrw)   : ORIGIN = 0x20000000, LENGTH = 1M
    CCMRAM (rw) : ORIGIN = 0x21000000, LENGTH = 64K
}
"""
# Its watch-dog resets the machine two seconds after it was fed for the last time, in QEMU, too, where it goes by the
# host's clock: whoever waits for the host must not be reset just because that one is busy.
MPS2_WATCHDOG = '"-DWATCHDOG=0x40008000", "-DWATCHDOG_START={0xC00,0x1ACCE551},{0,25000000},{8,3}"'
MPS2 = f"""
extends: mps2-an385
memory: {{null-page: 1K, runtime-stack: 2K}}
linker-script: thermostat.ld
vectors: vector_table
objects: [startup.s, libdriver.a]
watchdog: none
restore: [.ccmram, .noinit]
cflags: [-Os, -g, {MPS2_WATCHDOG}]
"""
FEED = "feed: {at: 0x4000800C, value: 1}\n"
PLAIN_DRIVER = """
#include "driver.h"
#include "system.h"
static int offset = 2;
void sample_start(void) { samples++; }
int sample_value(int raw) { return raw + offset++; }
"""


def project(folder: Path, profile: str, flags: list[str]) -> None:
    """The example's files, its driver library, and the profile as board.yaml."""
    shutil.copytree(ROOT / "examples" / "firmware", folder, dirs_exist_ok=True)
    (folder / "board.yaml").write_text(profile)
    for command in (["arm-none-eabi-gcc", *flags, "-Os", "-g", "-c", "driver.c"], BUILD.splitlines()[1].split()):
        subprocess.run(command, cwd=folder, check=True, timeout=60)


def mps2(folder: Path, profile: str = MPS2 + FEED) -> None:
    project(folder, profile, ["-mcpu=cortex-m3", "-mthumb"])
    (folder / "memory.ld").write_text(MPS2_MEMORY)


def paths(folder: Path) -> set[tuple[int, str, int]]:
    with closing(sqlite3.connect(folder / "campaign.db")) as record:
        return set(record.execute("SELECT path, verdict, code FROM tests"))


def plain_paths(folder: Path, board: str) -> set[tuple[int, str, int]]:
    """Those of the same program without all that."""
    (folder / "plain.c").write_text(PLAIN_DRIVER)
    words = [
        "--board",
        board,
        "--out",
        "plain",
        "--native",
        "plain.c",
        "main.c",
        "system.c",
        "--",
        "-DCCMRAM=",
        "-DNOINIT=",
    ]
    done = score_embed("run", *words, cwd=folder)
    assert done.returncode == 1, done.stderr
    return paths(folder / "plain")


def test_the_page_explores_its_project(tmp_path: Path) -> None:
    assert (ROOT / "examples" / "firmware" / "board.yaml").read_text() == PROFILE
    project(tmp_path, PROFILE, STM32_FLAGS)
    done = score_embed(*RUN.split()[1:], cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    for said in re.findall(r"`(main on [^`]*|\d+ paths[^`]*)`", PAGE):
        assert said in done.stdout
    (line,) = re.findall(r"assertion on line (\d+)", PAGE)
    assert re.search(rf"^main\.c:{line}: error: .* \[assertion\]$", done.stdout, re.MULTILINE)
    assert paths(tmp_path / "score-out" / "latest") == plain_paths(tmp_path, "stm32")


@pytest.mark.parametrize("how", ["run: qemu", "init: Reset_Handler", "vectors: keep"])
def test_a_running_watchdog_is_fed(how: str, tmp_path: Path) -> None:
    mps2(tmp_path)
    (tmp_path / "other.yaml").write_text(f"extends: board\n{how}\n")
    done = score_embed("run", "--board", "other.yaml", "--out", "o", "main.c", "system.c", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "exhausted" in done.stdout
    assert paths(tmp_path / "o") == plain_paths(tmp_path, "mps2-an385")


SLOW = """
#include "score.h"
#include "system.h"
volatile unsigned ticks;
int main(void)
{
    unsigned char x;
    volatile unsigned *timer = (volatile unsigned *)0x40000000; /* 25 MHz, down from its reload value */
    SYM_U8(x);
    timer[2] = timer[1] = 0xFFFFFFFF;
    timer[0] = 1;
    if (x == 1)
        while (timer[1] > 0xFFFFFFFF - 3 * 25000000) {} /* longer than the watch-dog's patience, in branches */
    return 0;
}
"""


def test_a_watchdog_that_nobody_feeds_resets_the_board(tmp_path: Path) -> None:
    mps2(tmp_path, MPS2)
    (tmp_path / "fed.yaml").write_text("extends: board\n" + FEED)
    (tmp_path / "slow.c").write_text(SLOW)
    words = ["--max-branches", "1000000000", "slow.c", "system.c"]
    lost = score_embed("run", "--board", "board.yaml", "--out", "a", *words, cwd=tmp_path)
    assert "slow.c:13: error: the processor starts again by itself in main: x = 1 [reset]" in lost.stdout, (
        lost.stdout + lost.stderr
    )
    assert "the processor started again by itself; if a watch-dog does that, `feed`" in lost.stdout
    fed = score_embed("run", "--board", "fed.yaml", "--out", "b", *words, cwd=tmp_path)
    assert "exhausted" in fed.stdout, fed.stdout + fed.stderr


TICKS = """
#include "score.h"
#include "system.h"
volatile unsigned ticks;
void wait(void);
int main(void)
{
    unsigned char x;
    volatile unsigned *systick = (volatile unsigned *)0xE000E010;
    SCORE_ASSERT(ticks == 0);
    systick[1] = 25000;
    systick[2] = 0;
    systick[0] = 7;
    wait(); /* the firmware's own handler counts */
    SYM_U8(x);
    if (x == 1)
        __asm__ volatile("1: b 1b"); /* no end and no branch that is seen */
    return x == 2;
}
"""


def test_the_firmware_has_systick_and_a_timer_watches(tmp_path: Path) -> None:
    timer = "watchdog: timer\ntimer: {kind: cmsdk, at: 0x40000000, irq: 8, clock: 25MHz}\n"
    mps2(tmp_path, MPS2.replace("watchdog: none\n", timer).replace(f", {MPS2_WATCHDOG}", ""))
    (tmp_path / "system.c").write_text(
        '#include "system.h"\nvoid SystemInit(void) {}\nvoid SysTick_Handler(void) { ticks++; }\n'
    )
    (tmp_path / "ticks.c").write_text(TICKS)
    (tmp_path / "wait.c").write_text('#include "system.h"\nvoid wait(void) { while (ticks < 3) continue; }\n')
    done = score_embed("run", "--board", "board.yaml", "ticks.c", "system.c", "startup.s", cwd=tmp_path)
    assert done.returncode == 3, "two start-ups"
    assert "`vector_table' is defined twice" in done.stderr
    words = ["--board", "board.yaml", "--native", "wait.c", "ticks.c", "system.c"]
    done = score_embed("run", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "watchdog: no end and no branch for too long (once)" in done.stdout
    assert "1 paths in 2 tests" in done.stdout


WRONG = {
    "linker-script: none.ld": (2, "board.yaml:", "none.ld"),
    "vectors: no_table": (3, "board.yaml:", "no_table"),
    "vectors: SystemInit": (3, "board.yaml:", "no vector table"),
    "init: nothing": (3, "board.yaml:", "`nothing'"),
    "objects: [startup.s, none.a]": (2, "board.yaml:", "none.a"),
    "objects: libdriver.a": (3, "board.yaml:", "vector_table"),
    "restore: .ccmram": (3, "board.yaml:", ".noinit", "starts", "restore:"),
    "restore: []": (3, ".ccmram", ".noinit", "limits"),
    "watchdog: dog": (2, "board.yaml:", "'dog'"),
    "watchdog: timer": (2, "board.yaml:", "timer"),
    "feed: 0x40003000": (2, "board.yaml:", "feed"),
    "feed: {at: 0x40003000}": (2, "board.yaml:", "value"),
    "memory: {null-page: 64K, runtime-stack: 2K}": (3, "null page", "null-page: "),
    "memory: {null-page: 1K, ram: {size: 16K}}": (3, "thermostat.ld", "bytes of RAM", "buffers"),
}


@pytest.mark.parametrize("line", WRONG)
def test_what_is_wrong_is_one_message(line: str, tmp_path: Path) -> None:
    key = line.partition(":")[0]
    profile = "".join(old for old in MPS2.splitlines(keepends=True) if not old.startswith(key))
    mps2(tmp_path, f"{profile}{line}\n")
    code, *words = WRONG[line]
    done = score_embed("run", "--board", "board.yaml", "main.c", "system.c", cwd=tmp_path)
    assert done.returncode == code, done.stdout + done.stderr
    assert done.stderr.count("error:") == 1, done.stderr
    assert len(message(done.stderr)) == 2, done.stderr
    for word in words:
        assert str(word) in done.stderr, done.stderr


def test_a_table_of_the_runtimes_needs_its_place(tmp_path: Path) -> None:
    profile = MPS2.replace("vectors: vector_table\n", "").replace("startup.s, ", "")
    mps2(tmp_path, profile)
    quick = re.sub(r"while \(timer.*\{\}", "return 1;", SLOW)
    (tmp_path / "p.c").write_text(quick.replace("system.h", "driver.h"))
    done = score_embed("run", "--board", "board.yaml", "p.c", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "exhausted" in done.stdout
    script = (tmp_path / "thermostat.ld").read_text()
    (tmp_path / "thermostat.ld").write_text(re.sub(r"\.isr_vector : .*", ". = 1024;", script))
    done = score_embed("run", "--board", "board.yaml", "p.c", cwd=tmp_path)
    assert done.returncode == 3
    assert ".isr_vector" in done.stderr


FAULTS = """
#include <stdint.h>
#include <stdlib.h>
#include "score.h"
volatile unsigned ticks;
__attribute__((section(".ccmram"))) static int fast = 5;
__attribute__((section(".noinit"))) static int kept;
static const unsigned table[4] = {1, 2, 3};
static int deep(int n)
{
    volatile char frame[64];
    frame[0] = (char)n;
    return n ? deep(n - 1) + frame[0] : 0;
}
int main(void)
{
    uint8_t x;
    volatile uintptr_t zero = 0;
    char *p = malloc(1000);
    SCORE_ASSERT(fast++ == 5 && kept++ == 0 && p && p[0] == 0);
    p[0] = 1;
    SYM_U8(x);
    switch (x) {
    case 1: return deep(100000);
    case 2: return *(volatile int *)zero;
    case 3: *(volatile unsigned *)(uintptr_t)&table[1] = 7; break;
    case 4: abort();
    }
    return 0;
}
"""
MEMORIES = {
    "mps2-an385": ("0", "0x20000000", "0x21000000", "null-page: 1K, "),
    "mps2-an505": ("0x10000000", "0x38000000", "0x38080000", ""),
    "microbit": ("0", "0x20000000", "0x20003000", "stack: 1K, "),
}


@pytest.mark.parametrize("board", MEMORIES)
def test_faults_are_found_in_a_layout_of_its_own(board: str, tmp_path: Path) -> None:
    flash, ram, fast, memory = MEMORIES[board]
    size = "12K" if board == "microbit" else "512K"
    core = {"mps2-an385": "cortex-m3", "mps2-an505": "cortex-m33+nofp", "microbit": "cortex-m0"}[board]
    profile = MPS2.replace("mps2-an385", board).replace("null-page: 1K, ", memory).replace(", libdriver.a", "")
    profile = profile.replace("runtime-stack: 2K", "runtime-stack: 1K").replace("watchdog: none\n", "")
    project(tmp_path, profile, [f"-mcpu={core}", "-mthumb"])
    (tmp_path / "memory.ld").write_text(
        f"MEMORY\n{{\n FLASH (rx) : ORIGIN = {flash}, LENGTH = 256K\n"
        f" RAM (rw) : ORIGIN = {ram}, LENGTH = {size}\n CCMRAM (rw) : ORIGIN = {fast}, LENGTH = 4K\n}}\n"
    )
    if board == "microbit":  # its 32 interrupts, and an instruction that ARMv6-M does not have
        text = (tmp_path / "startup.s").read_text()
        (tmp_path / "startup.s").write_text(text.replace(".rept 53", ".rept 3"))
    (tmp_path / "faults.c").write_text(FAULTS)
    (tmp_path / "system.c").write_text("void SystemInit(void) {}\n")
    done = score_embed("run", "--board", "board.yaml", "--json", "faults.c", "system.c", cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    found = json.loads(done.stdout)
    expected = {1: "stack-overflow", 2: "null-dereference", 3: "invalid-memory-access", 4: "abort"}
    if board == "microbit":  # no MPU
        expected = {4: "abort"}
    bugs = {bug["inputs"]["x"]: bug["kind"] for bug in found["bugs"]}
    assert {x: bugs.get(x) for x in expected} == expected
    if board != "microbit":
        assert (found["stopped"], found["paths"]) == ("exhausted", 5)


PLL = """
#include "system.h"
unsigned SystemCoreClock;
static unsigned control;
static int ready(void) { return *(volatile unsigned *)&control >> 25 & 1; }
void SystemInit(void)
{
    control |= 1u << 24;
    while (!ready()) {
    }
}
void SysTick_Handler(void) { ticks++; }
"""


@pytest.mark.parametrize("how", ["probes", "native"])
def test_where_start_up_hangs(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mps2(tmp_path)
    (tmp_path / "pll.c").write_text(PLL)
    board = load_board(tmp_path / "board.yaml")
    sources, native = ([tmp_path / "main.c"], [tmp_path / "pll.c"])
    if how == "probes":
        sources, native = [*sources, *native], []
    image = build_image(board, sources, native=native)
    monkeypatch.setattr(WiredTarget, "ready_within", 1.5)
    with pytest.raises(TargetError) as hangs, opening.ready_target(board, image):
        pass
    assert "start-up hangs in SystemInit" in hangs.value.what
    file, _, line = hangs.value.where.rpartition(":")
    assert (Path(file).name, line in ("5", "8", "9")) == ("pll.c", True)
    assert "init: none" in hangs.value.hint
    # Without it the program is explored.
    with (tmp_path / "board.yaml").open("a") as profile:
        profile.write("init: none\n")
    board = load_board(tmp_path / "board.yaml")
    with opening.ready_target(board, build_image(board, sources, native=native)) as target:
        assert target.info.free_ram > 0
