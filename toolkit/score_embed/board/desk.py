"""How a board on the desk is reached and looked after: its port or the program that leads to it, flashing, reset,
power, safe state. All of it is what the profile says; device/desk.py does it.
"""

from __future__ import annotations

import re

from msgspec import Struct

from score_embed import config, yamlfile
from score_embed.errors import UsageError

PLACEHOLDERS = ("elf", "bin", "hex", "port", "probe")
# The keys of `serial`; a device of the lab file may have them too.
SERIAL_KEYS = (
    "port",
    "baud",
    "probe",
    "flash",
    "reset",
    "pacing",
    "boot-seconds",
    "test-seconds",
    "reconnect-seconds",
)
LINES = ("dtr", "rts")  # modem lines that may be wired to a board's reset
_BOOT, _TEST, _RECONNECT = 3.0, 10.0, 60.0  # seconds, where the profile does not say
_PLACEHOLDER = re.compile(r"(?<!\$)\{([a-z]+)\}")

Command = tuple[str, ...]


class Pacing(Struct, frozen=True):
    """For a board without a FIFO: at most so many bytes in one go, then so many seconds of rest."""

    bytes: int
    seconds: float


class DeskRun(Struct, frozen=True):
    """The image runs on a board. `program`: instead of a port, a program whose standard input and output are the
    line."""

    port: str = ""
    baud: int = 115200
    probe: str = ""  # the debug probe's serial number: where several are plugged in, commands must name one
    program: Command = ()
    flash: Command = ()
    reset_line: str = ""
    reset_command: Command = ()
    pacing: Pacing | None = None
    boot_seconds: float = _BOOT  # from a reset to the first answer
    test_seconds: float = _TEST  # a test that takes longer is given up
    reconnect_seconds: float = _RECONNECT  # how long a line that broke may be gone
    power_on: Command = ()
    power_off: Command = ()
    safe_state: Command = ()
    safe_every: int = 1  # tests


def _port(serial: yamlfile.Section) -> str:
    name = serial.text("port", "")
    serial.file_name("port", name)
    return name


def read_desk(doc: yamlfile.Section, run: str) -> DeskRun:
    """The keys `serial`, `command`, `power` and `safe-state` of a profile whose `run` is `serial` or `command`."""
    serial, power, safe = (yamlfile.group(doc, key) for key in ("serial", "power", "safe-state"))
    serial.check_keys(SERIAL_KEYS, "key of `serial`")
    power.check_keys(("on", "off"), "key of `power`")
    safe.check_keys(("command", "every"), "key of `safe-state`")
    program = _command(doc, "command")
    if run == "command" and not program:
        hint = "Add `command: [program, argument]`: its standard input and output are the line to the board."
        raise UsageError("the key 'command' is missing", doc.where("run"), hint)
    uart = yamlfile.group(doc, "uart")
    line, reset = _reset(serial)
    if line and run == "command":
        raise UsageError(f"a program has no line {line!r}", serial.where("reset"), "Give a command, or leave it out.")
    every = safe.number("every", 1)
    if every < 1:
        raise UsageError("every: 0 tests", safe.where("every"), "Give a number from 1 on.")
    return DeskRun(
        port=_port(serial),
        probe=serial.text("probe", ""),
        baud=_positive(serial, "baud", uart.number("baud", 115200)),
        program=program if run == "command" else (),
        flash=_command(serial, "flash"),
        reset_line=line,
        reset_command=reset,
        pacing=_pacing(serial),
        boot_seconds=_seconds(serial, "boot-seconds", _BOOT),
        test_seconds=_seconds(serial, "test-seconds", _TEST),
        reconnect_seconds=_seconds(serial, "reconnect-seconds", _RECONNECT),
        power_on=_command(power, "on"),
        power_off=_command(power, "off"),
        safe_state=_command(safe, "command"),
        safe_every=every,
    )


def _command(doc: yamlfile.Section, key: str) -> Command:
    """A program and its arguments; placeholders nobody fills in are refused."""
    words = doc.texts(key)
    for word in words:
        for name in _PLACEHOLDER.findall(word):
            if name not in PLACEHOLDERS:
                hint = yamlfile.suggestion(name, PLACEHOLDERS)
                raise UsageError(f"{key}: unknown placeholder {{{name}}}", doc.where(key), hint)
    return words


def fill(command: Command, values: dict[str, str]) -> list[str]:
    """The words of a command with its placeholders filled in."""
    return [_PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), word) for word in command]


def uses(command: Command, name: str) -> bool:
    return any(name in _PLACEHOLDER.findall(word) for word in command)


def _reset(serial: yamlfile.Section) -> tuple[str, Command]:
    words = _command(serial, "reset")
    return (words[0], ()) if len(words) == 1 and words[0] in LINES else ("", words)


def _pacing(serial: yamlfile.Section) -> Pacing | None:
    if "pacing" not in serial.values:
        return None
    pacing = serial.section("pacing")
    pacing.check_keys(("bytes", "seconds"), "key of `pacing`")
    return Pacing(_positive(pacing, "bytes"), _seconds(pacing, "seconds"))


def _positive(doc: yamlfile.Section, key: str, default: int | None = None) -> int:
    number = doc.number(key, default)
    if number < 1:
        raise UsageError(f"{key}: {number} is too small", doc.where(key), "Give a number from 1 on.")
    return number


def _seconds(doc: yamlfile.Section, key: str, default: float | None = None) -> float:
    text = doc.text(key, None if default is None else str(default))
    try:
        return config.seconds(text)
    except ValueError as error:
        raise UsageError(f"{key} cannot be {text!r}", doc.where(key), str(error)) from None
