"""What a campaign's record holds beside its tables: a few parts, each under its key and of one type.

They are written as JSON and checked when they are read, so that a damaged record ends in one message. Of what and by
whom the campaign was made (provenance) whoever goes on with it compares. How far it has come is committed with each
batch. A campaign may last seconds or weeks, and the record is written each second; so the moments of its timeline are a
bounded number: when they are too many every second one is dropped, and from then on they are twice as far apart.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from msgspec import Meta, Struct

from score_embed.config import Settings
from score_embed.contract.entry import Entry
from score_embed.contract.judged import Judged
from score_embed.contract.outcome import LinkCounters
from score_embed.contract.words import Stop
from score_embed.explore.tally import TallyRows
from score_embed.results.fleet import FleetFigures
from score_embed.results.sourcemap import SourceMap
from score_embed.results.storage import damaged, storage_error
from score_embed.results.vectors import VectorState
from score_embed.results.witnessed import WitnessState

MOST_MOMENTS = 240  # moments that are kept
_Count = Annotated[int, Meta(ge=0, le=2**53)]
T = TypeVar("T")


class Provenance(Struct, frozen=True):
    """SHA-256 in hexadecimal of its image, the second witness's program (empty if there is none), the board's profile,
    the toolkit, its settings; and the signature of who made it (`campaign/trust.py`)."""

    image: str
    witness: str
    profile: str
    toolkit: str
    settings: str
    signature: str = ""


def digest_of(path: Path) -> str:
    """Of a file; empty if there is none. Raises StorageError."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise storage_error(error, path) from error


class Memory(Struct, frozen=True):
    """Bytes: the largest resident size of the host's processes, and what the target has free."""

    host_rss: int = 0
    target: int = 0

    def with_(self, other: Memory) -> Memory:
        """Of two processes, or of two moments, the second of which knows the target better."""
        return Memory(max(self.host_rss, other.host_rss), other.target or self.target)


class Totals(Struct):
    """Of all tests."""

    runs: int = 0
    paths: int = 0  # distinct ones
    redundant: int = 0
    mispredicted: int = 0
    re_asked: int = 0  # runs of a path for a flip of it whose question had been forgotten; they are no tests
    unchecked: int = 0  # accesses through pointers of which nobody knows the bounds
    retried: int = 0  # tests whose target died once, and that another one ran to an end
    conditions: int = 0  # of all distinct paths together
    longest: int = 0  # the most of one
    left: dict[str, int] = {}  # array of a harness whose size nobody said → tests that ended where they left it


class Progress(Struct, frozen=True):
    totals: Totals
    notes: tuple[tuple[str, str, int, int], ...]  # what, file, line, how often: besides the explorers'
    stopped: Stop | None  # None: it runs, or was killed
    seconds: float  # of all sessions
    queue: int  # runs that the work list has seen
    tally: TallyRows  # of all explorers
    link: LinkCounters  # of all sessions
    memory: Memory


class Moment(Struct, frozen=True, array_like=True):
    """`seconds`: of all sessions so far; `covered`: branch directions."""

    seconds: Annotated[float, Meta(ge=0, le=1e12)]
    tests: _Count
    paths: _Count
    covered: _Count
    bugs: _Count


class Timeline(Struct):
    """`apart`: seconds between two moments, at least, but for the last one, which is as new as the record."""

    moments: list[Moment] = []
    apart: float = 0.1

    def add(self, now: Moment) -> None:
        """The newest moment. It takes the place of the last one if that lies too close behind the one before."""
        moments = self.moments
        if len(moments) > 1 and moments[-1].seconds - moments[-2].seconds < self.apart:
            moments.pop()
        moments.append(now)
        if len(moments) > MOST_MOMENTS:
            del moments[1:-1:2]
            self.apart = max(2 * self.apart, 2 * now.seconds / MOST_MOMENTS)


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
    """The layers that keep targets from this machine, and those that it does not have, each with the reason; and what
    lies beyond an exploration within these, in words."""

    active: tuple[str, ...]
    missing: tuple[str, ...]
    beyond: tuple[str, ...] = ()


class Baseline(Struct, frozen=True):
    """Of the newest session: the fingerprints that it knew. None: it was not given one."""

    known: tuple[str, ...] | None


class Part(Struct, Generic[T], frozen=True):
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
BASELINE = Part("baseline", Baseline)
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
    """Rows of the record in `folder`, of columns of these types: SQLite takes any value anywhere. Raises
    StorageError."""
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
