"""What a campaign's record holds beside its tables: a few parts, each under its key and of one type.

They are written as JSON and checked when they are read, so that a damaged record ends in one message.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from score_embed.config import Settings
from score_embed.contract.entry import Entry
from score_embed.contract.judged import Judged
from score_embed.results.fleet import FleetFigures
from score_embed.results.progress import Progress
from score_embed.results.provenance import Provenance
from score_embed.results.sourcemap import SourceMap
from score_embed.results.storage import damaged
from score_embed.results.timeline import Timeline
from score_embed.results.vectors import VectorState
from score_embed.results.witnessed import WitnessState

T = TypeVar("T")


class Program(Struct, frozen=True):
    """What is explored, as reports tell it."""

    name: str
    board: str
    strategy: str
    seed: int
    began: str  # UTC, ISO 8601
    entry: Entry | None
    sources: tuple[str, ...]
    whole: bool = False  # with arguments or standard input of its own
    within: tuple[str, ...] = ()  # bounds of its inputs, in words
    stubs: str = ""  # the C of what stands in for functions
    goal: str | None = None


class Confined(Struct, frozen=True):
    """The layers that keep targets from this machine, and those that it does not have, each with the reason."""

    active: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Part(Generic[T]):
    key: str
    kind: type[T]


SETTINGS = Part("settings", Settings)
PROVENANCE = Part("provenance", Provenance)
VERSIONS = Part("versions", dict[str, str])
PROGRAM = Part("program", Program)
SOURCES = Part("sources", SourceMap)
PROGRESS = Part("progress", Progress)
TIMELINE = Part("timeline", Timeline)
FLEET = Part("fleet", FleetFigures)
WITNESS = Part("witness", WitnessState)
CONFINED = Part("confined", Confined)
VECTORS = Part("vectors", VectorState)
REFUSED = Part("refused", tuple[tuple[str, str, int, int], ...])  # by confinement: call, file, line, how often
JUDGED = Part("judged", tuple[Judged, ...])  # what the user said of bugs
FLEET_NUMBER = Part("fleet number", int)
EPOCH = Part("epoch", int)


def encode(value: object) -> str:
    """As JSON. Paths become absolute: a campaign may go on from another folder."""
    return msgspec.json.encode(value, enc_hook=_plain).decode()


def decode(text: str | bytes, kind: type[T]) -> T:
    """Raises msgspec.MsgspecError if it is not JSON of that type."""
    return msgspec.json.decode(text, type=kind, dec_hook=_made)


def decoded(text: str, kind: type[T], what: str, folder: Path) -> T:
    """Of the record in `folder`. Raises StorageError if it is damaged; `what`: is read."""
    try:
        return decode(text, kind)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise damaged(folder, f"{what}: {error}") from None


def typed(values: object, kind: type[T], what: str, folder: Path) -> T:
    """Rows of the record in `folder`, of columns of these types: SQLite takes any value anywhere. Raises StorageError."""
    try:
        return msgspec.convert(values, kind, builtin_types=(bytes,))
    except msgspec.ValidationError as error:
        raise damaged(folder, f"{what}: {error}") from None


def _plain(value: object) -> object:
    if isinstance(value, Path):
        return str(value.absolute())
    raise NotImplementedError(type(value))


def _made(kind: type[Any], value: object) -> object:
    if kind is Path and isinstance(value, str):
        return Path(value)
    raise NotImplementedError(kind)
