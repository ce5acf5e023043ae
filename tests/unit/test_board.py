"""Board profiles: what is shipped, how boards are found, and what is said about wrong ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from score_embed.board import desk, profile
from score_embed.board.desk import DeskRun
from score_embed.board.hardware import Region
from score_embed.errors import UsageError

GOOD = "compiler: gcc\nruntime: x86\nargument-order: right\nrun: native\n"


def test_shipped_boards_load() -> None:
    names = {profile.load_board(path).name: path.stem for path in profile.known_boards().values()}
    assert {"native", "mps2-an385", "mps2-an385-uart"} <= set(names)
    assert all(name == stem for name, stem in names.items())


def test_a_board_of_the_project_comes_before_a_shipped_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "boards").mkdir()
    (tmp_path / "boards" / "native.yaml").write_text(GOOD)
    (tmp_path / "boards" / "mine.yaml").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    found = profile.known_boards()
    assert found["native"] == Path("boards/native.yaml")
    assert {"mine", "mps2-an385"} <= set(found)


def test_native() -> None:
    board = profile.find_board("native")
    assert (board.cc, board.runtime, board.argument_order) == ("gcc", "x86", "right")
    assert isinstance(board.run, profile.NativeRun)


def test_linux_processes_in_an_emulator(tmp_path: Path) -> None:
    board = profile.find_board("aarch64-linux")
    assert board.run == profile.NativeRun(("qemu-aarch64",))
    assert board.tools() == ("aarch64-linux-gnu-gcc", "qemu-aarch64")
    assert board.runs_in == "qemu-aarch64"
    path = tmp_path / "mine.yaml"
    path.write_text("extends: arm-linux\ncompiler: sh\nemulator: [no-such-qemu, -cpu, cortex-a7]\n")
    with pytest.raises(UsageError, match="'no-such-qemu', which is not installed"):
        profile.load_board(path).require_tools()
    path.write_text("extends: arm-linux\nemulator: []\n")
    assert profile.load_board(path).run == profile.NativeRun()
    assert profile.find_board("arm-linux").apt["qemu-arm"] == "qemu-user"


def test_qemu() -> None:
    board = profile.find_board("mps2-an385")
    assert board.run == profile.QemuRun("qemu-system-arm", "mps2-an385", "semihosting")
    assert board.argument_order == "left"
    assert board.tools() == ("arm-none-eabi-gcc", "qemu-system-arm")


def test_project_boards_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "boards").mkdir()
    (tmp_path / "boards" / "native.yaml").write_text(GOOD + "cflags: -O0\n", encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(GOOD, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert profile.find_board("native").cflags == ("-O0",)
    assert profile.find_board("mine.yaml").name == "mine"
    assert profile.find_board("native.yaml").cflags == ("-O0",)


def test_unknown_board_suggests() -> None:
    with pytest.raises(UsageError, match="unknown board 'mps2-an358'") as caught:
        profile.find_board("mps2-an358")
    assert "'mps2-an386', 'mps2-an385' or 'mps2-an5" in caught.value.hint
    with pytest.raises(UsageError, match="no board file"):
        profile.find_board("nowhere.yaml")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (GOOD + "complier: gcc\n", 5, "unknown key 'complier'"),
        (GOOD.replace("right", "sideways"), 3, "argument-order"),
        (GOOD.replace("x86", "x68"), 2, "unknown word 'x68'"),
        (GOOD.replace("native", "quemu"), 4, "unknown word 'quemu'"),
        (GOOD.replace("native", "qemu\nqemu: {command: q, machin: m}"), 5, "machin"),
        (GOOD.replace("native", "qemu\nqemu: q"), 5, "group of keys"),
        (GOOD.replace("native", "qemu"), 1, "group of keys"),
        (GOOD + "extends: base/cortex-mm\n", 5, "no profile 'base/cortex-mm'"),
        (GOOD + "extends: b.yaml\n", 5, "in a circle"),
        (GOOD + "clock: fast\n", 5, "not a number"),
        (GOOD + "memory:\n  ram: {at: 0, size: 64X}\n", 6, "not a number"),
        (GOOD + "memory:\n  ram: {at: 0, size: 64}\n", 6, "too few"),
        (GOOD + "memory:\n  rom: {at: 0, size: 64K}\n", 6, "'rom'"),
        (GOOD + "memory:\n  ram: {at: 0}\n", 6, "'size' is missing"),
        (GOOD + "uart: {kind: pl001, at: 0}\n", 5, "unknown word 'pl001'"),
        (GOOD + "setup: 7\n", 5, "list of registers"),
        (GOOD + "setup: [{at: 7}]\n", 5, "changes nothing"),
        (GOOD + "buffers: {chunk: 8}\n", 5, "too small"),
        (GOOD + "compiler: cc\n", 5, "twice"),
        (GOOD + "serial: {prot: /dev/ttyS0}\n", 5, "'prot'"),
        (GOOD + "serial: {baud: 0}\n", 5, "too small"),
        (GOOD + "serial: {flash: [flash, '{elff}']}\n", 5, "placeholder {elff}"),
        (GOOD + "serial: {pacing: {bytes: 8}}\n", 5, "'seconds' is missing"),
        (GOOD + "serial: {boot-seconds: soon}\n", 5, "boot-seconds cannot be 'soon'"),
        (GOOD + "safe-state: {command: x, every: 0}\n", 5, "every: 0"),
        (GOOD + "power: {of: x}\n", 5, "'of'"),
        (GOOD.replace("native", "command"), 4, "'command' is missing"),
        (GOOD.replace("native", "command\ncommand: x\nserial: {reset: dtr}"), 6, "no line 'dtr'"),
        (GOOD + "cflags: {a: b}\n", 5, "list of words"),
        (GOOD + "emulator: {a: b}\n", 5, "list of words"),
        (GOOD + "emulater: [qemu-arm]\n", 5, "unknown key 'emulater'"),
        (GOOD.replace("compiler: gcc\n", ""), 1, "'compiler' is missing"),
        ("compiler: [\n", 2, "not valid YAML"),
        ("- a\n", 1, "key: value"),
    ],
)
def test_wrong_profiles_are_named_with_their_line(text: str, line: int, words: str, tmp_path: Path) -> None:
    path = tmp_path / "b.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        profile.load_board(path)
    assert words in caught.value.what
    assert caught.value.where == f"{path}:{line}"
    assert caught.value.hint


def test_missing_tool_says_how_to_get_it(tmp_path: Path) -> None:
    path = tmp_path / "b.yaml"
    path.write_text(GOOD.replace("gcc", "no-such-gcc") + "packages: {no-such-gcc: gcc-none}\n", encoding="utf-8")
    with pytest.raises(UsageError, match="'no-such-gcc'") as caught:
        profile.load_board(path).require_tools()
    assert caught.value.hint == "Install it: apt-get install gcc-none"


def test_a_profile_extends_another_key_by_key(tmp_path: Path) -> None:
    base = "memory:\n  flash: {at: 0, size: 1M}\n  ram: {at: 0x20000000, size: 64K}\nclock: 8MHz\n"
    (tmp_path / "family.yaml").write_text(GOOD + base)
    (tmp_path / "mine.yaml").write_text("extends: family\nmemory: {ram: {size: 20_480}}\ncflags: [-O1]\ncpu: -m32\n")
    board = profile.load_board(tmp_path / "mine.yaml")
    assert board.hardware.flash == Region(0, 1 << 20)
    assert board.hardware.ram == Region(0x20000000, 20480)
    assert board.hardware.clock == 8_000_000
    assert board.cflags == ("-m32", "-O1")
    places = {key: place for key, _, place in profile.read_profile(tmp_path / "mine.yaml").leaves()}
    assert places["memory.ram.size"] == f"{tmp_path / 'mine.yaml'}:2"
    assert places["memory.ram.at"] == f"{tmp_path / 'family.yaml'}:7"


def test_hardware_becomes_macros(tmp_path: Path) -> None:
    text = """
memory: {flash: {at: 0, size: 64K}, ram: {at: 0x20000000, size: 8K}, stack: 1K}
uart: {kind: stm32, at: 0x40013800}
setup: [{at: 0x10, set: 0x3, clear: 0x4}, {at: 0x20, value: 5}]
buffers: {input: 128}
"""
    (tmp_path / "b.yaml").write_text(GOOD + text)
    assert profile.load_board(tmp_path / "b.yaml").hardware.macros() == {
        "SC_STACK_SIZE": "0x400",
        "SC_FLASH_BASE": "0x0",
        "SC_NULL_PAGE": "0x0",
        "SC_FLASH_SIZE": "0x10000",
        "SC_RAM_BASE": "0x20000000",
        "SC_RAM_SIZE": "0x2000",
        "SC_UART_STM32": "0x1",
        "SC_UART": "0x40013800",
        "SC_UART_IRQ": "0x0",
        "SC_BAUD": "0x1c200",
        "SC_INPUT_CAPACITY": "0x80",
        "SC_SETUP": "{0x10,0x4,0x3},{0x20,0xffffffff,0x5}",
    }


def test_the_same_profile_in_qemu_and_on_the_desk() -> None:
    there = profile.find_board("stm32", port="/dev/ttyACM0")
    assert isinstance(there.run, DeskRun)
    assert (there.run.port, there.run.baud, there.run.flash[0]) == ("/dev/ttyACM0", 115200, "openocd")
    assert isinstance(profile.find_board("stm32").run, profile.QemuRun)
    assert there.tools() == ("arm-none-eabi-gcc",)
    with pytest.raises(UsageError, match="unknown word 'sreial'"):
        profile.find_board("stm32", "sreial")


def test_placeholders_of_commands() -> None:
    command = ("tool", "program {elf} reset", "-p{port}", "${HOME}", "{ puts }")
    filled = desk.fill(command, {"elf": "a.elf", "port": "/dev/x"})
    assert filled == ["tool", "program a.elf reset", "-p/dev/x", "${HOME}", "{ puts }"]
