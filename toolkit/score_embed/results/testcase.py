"""A test case as people and other tools see it: named inputs, verdict, path, in two small files.

`NNNNNN-HASH.bin` holds the raw input bytes, which `SCORE_INPUT=` feeds to a plain build and `--first` to a
campaign; the `.json` beside it names them. `--first` also takes a `.json` written by hand:
`{"inputs": {"x": 22, "f": 1.5, "buf": "0a0b"}}`.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from struct import pack, unpack
from typing import Literal, NamedTuple

from msgspec import Struct, field

from score_embed import config, userfile
from score_embed.errors import UsageError
from score_embed.results.json_text import indented

Value = int | float | str  # a number, hex bytes, or a text in quotes
ValueKind = Literal["signed", "unsigned", "boolean", "float", "bytes", "text"]
_MOST_JSON = 1 << 20  # bytes of a first test that names its inputs
_ESCAPED = {ord('"'): '\\"', ord("\\"): "\\\\", 10: "\\n", 9: "\\t", 13: "\\r"}
_FLOATS = {4: "<f", 8: "<d"}  # how they are packed, by size


def ended(verdict: str, code: int) -> str:
    """How a test ended, with the program's code where there is one."""
    return f"{verdict} {code}" if verdict in ("return", "exit", "signal") else verdict


def stem(number: int, path_hash: int) -> str:
    """What the files of a test are called."""
    return f"{number:06d}-{path_hash & 0xFFFFFFFF:08x}"


def small_stem(number: int) -> str:
    """The same, of the simpler input of a bug."""
    return f"{number:06d}-small"


class Named(NamedTuple):
    """A symbolic object of the program and where its bytes lie in the input."""

    name: str
    offset: int
    size: int
    kind: ValueKind

    def value(self, data: bytes) -> Value:
        part = data[self.offset : self.offset + self.size]
        if self.kind == "float" and len(part) in _FLOATS:
            return _number(part)
        if self.kind == "text":
            return quoted(part)
        if self.kind in ("bytes", "float"):
            return part.hex()
        number = int.from_bytes(part, "little", signed=self.kind == "signed")
        return number & 1 if self.kind == "boolean" else number


def quoted(part: bytes) -> str:
    """A text as C would write it, up to its end: what lies behind that is of no text."""
    return (
        '"'
        + "".join(_ESCAPED.get(c) or (chr(c) if 32 <= c < 127 else f"\\x{c:02x}") for c in part.partition(b"\0")[0])
        + '"'
    )


def raw_bytes(value: str) -> bytes:
    """The bytes of a text in quotes, or of hex digits. Raises ValueError."""
    if not value.startswith('"'):
        return bytes.fromhex(value)
    if len(value) < 2 or not value.endswith('"'):
        raise ValueError("a text without an end")
    return value[1:-1].encode().decode("unicode_escape").encode("latin-1") + b"\0"


def _number(part: bytes) -> Value:
    """The number if its pattern is known from it, else that: JSON has neither infinity nor NaN."""
    how = _FLOATS[len(part)]
    (number,) = unpack(how, part)
    if not math.isfinite(number):
        return part.hex()
    shorter = (float(f"{number:.{digits}g}") for digits in range(1, 10 if len(part) == 4 else 18))
    return next((value for value in shorter if _packs_to(value, how, part)), number)


def _packs_to(value: float, how: str, part: bytes) -> bool:
    try:
        return pack(how, value) == part
    except OverflowError:
        return False


def named_inputs(objects: Iterable[Named], data: bytes) -> dict[str, Value]:
    """The values that the input gives them."""
    return {named.name: named.value(data) for named in objects}


class TestFile(Struct, frozen=True, omit_defaults=True):
    """What stands in a test's `.json`."""

    __test__ = False  # not a pytest class

    v: int
    test: int
    inputs: Mapping[str, Value]
    verdict: str
    code: int
    path: str
    where: str
    output: str
    versions: Mapping[str, str]
    shown: Mapping[str, Value] | None = None  # the inputs as people read them, if that is something else
    witness: str = ""


class TestCase(Struct, frozen=True):
    """One executed test with what came of it."""

    __test__ = False  # not a pytest class

    number: int
    input: bytes
    inputs: Mapping[str, Value]
    verdict: str
    code: int
    path_hash: int
    where: str  # file:line of the end, if it is known
    output: str
    versions: Mapping[str, str] = field(default_factory=dict)
    witness: str = ""  # who saw the verdict, if not the test itself: a sanitizer
    is_small: bool = False  # the input of a bug that was made simpler
    shown: Mapping[str, Value] = field(default_factory=dict)  # the inputs as people read them

    @property
    def stem(self) -> str:
        return small_stem(self.number) if self.is_small else stem(self.number, self.path_hash)

    def write(self, folder: Path) -> None:
        (folder / f"{self.stem}.bin").write_bytes(self.input)
        written = TestFile(
            v=1,
            test=self.number,
            inputs=self.inputs,
            verdict=self.verdict,
            code=self.code,
            path=f"{self.path_hash:016x}",
            where=self.where,
            output=self.output,
            versions=self.versions,
            shown=self.shown if self.shown not in ({}, self.inputs) else None,
            witness=self.witness,
        )
        (folder / f"{self.stem}.json").write_text(indented(written) + "\n", encoding="utf-8")


class First(Struct, frozen=True):
    """What `--first` gave: all bytes, or values by name that a layout turns into bytes. `others`: of further tests to
    begin with."""

    path: Path
    data: bytes = b""
    others: tuple[bytes, ...] = ()
    values: Mapping[str, Value] = field(default_factory=dict)

    def fill(self, data: bytes, objects: Sequence[Named]) -> bytes:
        """`data` with the named values written over it."""
        result = bytearray(data)
        for named in objects:
            if named.name in self.values:
                part = self._encode(named, self.values[named.name])
                result.extend(bytes(max(0, named.offset + named.size - len(result))))
                result[named.offset : named.offset + len(part)] = part
        return bytes(result)

    def unknown(self, objects: Sequence[Named]) -> list[str]:
        return sorted(set(self.values) - {named.name for named in objects})

    def _encode(self, named: Named, value: Value) -> bytes:
        if named.kind == "float" and not isinstance(value, str):
            return self._float(named, value)
        if isinstance(value, float):
            raise UsageError(f"{value} is no value of {named.name!r}, an integer", str(self.path), "")
        if isinstance(value, int):
            if -(1 << (8 * named.size - 1)) <= value < 1 << (8 * named.size):
                return (value % (1 << (8 * named.size))).to_bytes(named.size, "little")
            raise UsageError(
                f"{value} does not fit into {named.name!r}, which has {named.size} bytes", str(self.path), ""
            )
        part = raw_bytes(value)
        if value.startswith('"'):
            part = part[: named.size].ljust(named.size, b"\0")
        if len(part) > named.size:
            what = f"{named.name!r} has {named.size} bytes, but {len(part)} are given"
            raise UsageError(what, str(self.path), "Give at most that many hex bytes.")
        return part

    def _float(self, named: Named, value: float) -> bytes:
        try:
            return pack(_FLOATS[named.size], value)
        except OverflowError:
            what = f"{value} does not fit into {named.name!r}, which has {named.size} bytes"
            raise UsageError(what, str(self.path), "") from None


def read_first(path: Path) -> First:
    """Read the file of `--first`: a `.json` with inputs, or raw bytes; or the `.bin` files of a folder."""
    if os.path.isdir(path):
        return _read_folder(path)
    is_named = path.suffix == ".json"
    most = _MOST_JSON if is_named else config.MOST_INPUT
    raw = userfile.read(path, "the first test", most, "Give a test's .json or .bin file.")
    if not is_named:
        return First(path, data=raw)
    hint = 'Write numbers or hex bytes: {"inputs": {"x": 22, "f": 1.5, "buf": "0a0b"}}.'
    try:
        document: object = json.loads(raw)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise UsageError(f"this is not valid JSON: {reason}", str(path), hint) from error
    inputs = document.get("inputs") if isinstance(document, dict) else None
    if not isinstance(inputs, dict):
        raise UsageError("there is no group `inputs`", str(path), hint)
    for name, value in inputs.items():
        try:
            if isinstance(value, bool) or not isinstance(value, (int, float, str)):
                raise ValueError
            if isinstance(value, str):
                raw_bytes(value)
        except ValueError as error:
            what = f"the value of {userfile.shown(name)} is neither a number nor hex bytes"
            raise UsageError(what, str(path), hint) from error
    return First(path, values=inputs)


def read_own(path: Path) -> First:
    """The folder of `--have`: each file is an input, whatever its name, as fuzzers keep them. Raises UsageError."""
    require_folder(path)
    return _read_folder(path, "*")


def require_folder(path: Path) -> None:
    """Of `--have`, before anything is built. Raises UsageError."""
    if not path.is_dir():
        what = "this is no folder" if path.exists() else "there is no such folder"
        raise UsageError(what, str(path), "--have names a folder of inputs, a file each.")


def _read_folder(path: Path, names: str = "*.bin") -> First:
    """Each different input once, in the order of their names."""
    hint = "`score-embed export DIR --corpus FOLDER` makes such a folder."
    try:
        files = sorted(file for file in path.glob(names) if names == "*.bin" or file.is_file())
    except OSError as error:
        raise UsageError(f"cannot read the first tests: {error.strerror}", str(path), hint) from error
    found = list(dict.fromkeys(userfile.read(file, "a first test", config.MOST_INPUT, hint) for file in files))
    if not found:
        raise UsageError(f"there is no {'.bin ' if names == '*.bin' else ''}file in this folder", str(path), hint)
    return First(path, data=found[0], others=tuple(found[1:]))
