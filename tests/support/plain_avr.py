"""The plain program as the judge where int has 16 bits: compiled by avr-gcc, run in QEMU, one start for each input.

No compiler for this machine has that data model, so the judge runs on the emulated board itself.
"""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from plain import ENDINGS, MEANING, RUNTIME, PlainRun, run

MACHINE = "arduino-mega-2560-v3"
CPU = "-mmcu=atmega2560"
DEADLINE = 20.0  # seconds for one run


def build_plain(sources: Sequence[Path], folder: Path, size: int, flags: Sequence[str] = ()) -> Path:
    """Compile `sources`, which take `size` bytes of input; returns the executable."""
    objects: list[Path] = []
    for source in sources:
        compiled = folder / f"avr-{source.stem}.o"
        run(
            *("avr-gcc", CPU, "-O0", "-w", "-DSCORE_EMBED=1", "-D__ASSERT_USE_STDERR", *MEANING),
            *(f"-I{RUNTIME / 'include'}", "-Dmain=plain_main", *flags, "-c", str(source), "-o", str(compiled)),
        )
        objects.append(compiled)
    program = folder / "plain-avr.elf"
    driver = Path(__file__).with_name("plain_avr.c")
    wraps = [f"-Wl,--wrap={name}" for name in ("exit", "abort")]
    run("avr-gcc", CPU, "-Os", "-w", f"-DINPUT={size}", driver, *objects, *wraps, "-o", program, "-lm")
    return program


def run_plain(program: Path, inputs: Iterable[bytes]) -> list[PlainRun]:
    """One run for each input; their `blocks` are not known."""
    ours, theirs = socket.socketpair()
    command = ["qemu-system-avr", "-M", MACHINE, "-bios", str(program), "-nodefaults", "-display", "none"]
    command += ["-chardev", f"socket,id=u0,fd={theirs.fileno()}", "-serial", "chardev:u0"]
    with subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL) as process:
        theirs.close()
        ours.settimeout(DEADLINE)
        try:
            with ours.makefile("rb") as answers:
                return [_once(ours, answers.read, data) for data in inputs]
        finally:
            ours.close()
            process.kill()


def _once(to: socket.socket, read: object, data: bytes) -> PlainRun:
    assert callable(read)
    to.sendall(data)
    output = bytearray()
    while (mark := read(1)) == b"\x01":
        output += read(1)
    assert mark == b"\0", "the plain program died"
    ending, status = read(2)
    return PlainRun(0, ENDINGS[ending], status, bytes(output))
