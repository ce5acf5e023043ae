"""What goes wrong on a simulated serial line: one table feeds the command line, the YAML files and the help text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from score_embed import places, yamlfile
from score_embed.errors import UsageError


@dataclass(frozen=True)
class Scenario:
    """0 means: never, none, or without a limit."""

    baud: int = 0
    latency: float = 0.0
    burst: float = 0.0
    fifo: int = 0
    bit_errors: float = 0.0
    dropped: float = 0.0
    inserted: float = 0.0
    seed: int = 0
    chatter: str = ""
    boot_seconds: float = 0.0
    unplug_after: int = 0
    unplug_seconds: float = 1.0
    unplug_times: int = 1
    stuck_after: int = -1
    reset_after: int = 0
    reset_times: int = 1
    wrong_image: int = 0


def _count(word: str) -> int:
    value = int(word)
    if value < 0:
        raise ValueError("It is a whole number from 0 on.")
    return value


def _rate(word: str) -> float:
    value = float(word.removesuffix("%")) / (100 if word.endswith("%") else 1)
    if not 0 <= value < 1:
        raise ValueError("It is a share of all bytes: 0.01 or 1%.")
    return value


def _span(word: str) -> float:
    value = float(word)
    if not 0 <= value < 1e6:
        raise ValueError("It is a number of seconds.")
    return value


def _text(word: str) -> str:
    return word


@dataclass(frozen=True)
class Key:
    name: str
    convert: Callable[[str], Any]
    help: str

    @property
    def field(self) -> str:
        return self.name.replace("-", "_")


KEYS = (
    Key("baud", _count, "bits a second; the host must set the same"),
    Key("latency", _span, "seconds that every byte is under way"),
    Key("burst", _span, "the host gets bytes only every so many seconds: the latency timer of a USB adapter"),
    Key("fifo", _count, "bytes the board can receive while the program runs; more are lost"),
    Key("bit-errors", _rate, "share of the bytes of which a bit is changed: 0.01 or 1%%"),
    Key("dropped", _rate, "share of the bytes that are lost"),
    Key("inserted", _rate, "share of the bytes after which another appears"),
    Key("seed", _count, "of these errors"),
    Key("chatter", _text, "what the board prints when it starts, before READY"),
    Key("boot-seconds", _span, "from power or reset until the board lives"),
    Key("unplug-after", _count, "pull the cable during the test after that many"),
    Key("unplug-seconds", _span, "until it is plugged in again (1)"),
    Key("unplug-times", _count, "how often, after as many tests again (1)"),
    Key(
        "stuck-after", _count, "say nothing any more after that many tests, until the power is switched; 0: never speak"
    ),
    Key("reset-after", _count, "the board resets itself during the test after that many"),
    Key("reset-times", _count, "how often, after as many tests again (1)"),
    Key("wrong-image", _count, "1: the board holds another build until it is flashed"),
)
_BY_NAME = {key.name: key for key in KEYS}
assert {key.field for key in KEYS} == {field.name for field in fields(Scenario)}


def read_scenario(name: str | None, given: Mapping[str, str | None]) -> Scenario:
    """A scenario by its name or file, with what is given beside it (field → word)."""
    found: dict[str, Any] = {}
    if name is not None:
        doc = yamlfile.read(_find(name))
        doc.check_keys(("about", *_BY_NAME), "key")
        for key in doc.values:
            if key != "about":
                found[_BY_NAME[key].field] = _convert(_BY_NAME[key], doc.text(key), doc.where(key))
    for key_row in KEYS:
        word = given.get(key_row.field)
        if word is not None:
            found[key_row.field] = _convert(key_row, word, "command line")
    return Scenario(**found)


def _find(name: str) -> Path:
    shipped = places.shipped("simulators")
    for path in (Path(name), shipped / f"{name}.yaml"):
        if path.is_file():
            return path
    known = [path.stem for path in shipped.glob("*.yaml")]
    raise UsageError(f"there is no scenario {name!r}", "command line", yamlfile.suggestion(name, known))


def _convert(key: Key, word: str, where: str) -> Any:
    try:
        return key.convert(word)
    except ValueError as error:
        raise UsageError(f"{key.name} cannot be {word!r}", where, str(error)) from None
