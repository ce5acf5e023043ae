"""What the books of a campaign take in, and a test in the user's words: where it ended, what its inputs are called."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Annotated

from msgspec import Meta, Struct

from score_embed import places
from score_embed.contract.outcome import Finished, LinkCounters, Refused, Verdict
from score_embed.contract.sites import InputFlag, Site, SiteKind
from score_embed.explore.pair import Pair
from score_embed.explore.tally import Index, TallyRows
from score_embed.image.image import Image
from score_embed.results.bugs import Place, locate
from score_embed.results.lines import LineTable
from score_embed.results.pairs import LostTest
from score_embed.results.parts import Memory
from score_embed.results.testcase import Named, ValueKind
from score_embed.results.vectors import Taken
from score_embed.trace.trail import SymbolicObject, Trail


class Small(Struct, frozen=True):
    """A simpler input that brings the same bug at the same place."""

    input: bytes
    path_hash: Annotated[int, Meta(ge=0)]
    objects: tuple[Named, ...]


class Entry(Struct, frozen=True):
    """One executed test as the books take it in: from the worker beside them, or from a fleet's client."""

    input: bytes
    verdict: Verdict
    code: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
    path_hash: Annotated[int, Meta(ge=0)]
    conditions: Annotated[int, Meta(ge=0, le=2**32 - 1)]
    is_path: bool
    mispredicted: bool
    objects: tuple[Named, ...]
    place: Place | None  # of a bug
    output: bytes
    coverage: tuple[Index, ...]  # indices that whoever ran it had not seen covered
    confirmed: bool  # a bug that showed again on a fresh target
    unchecked: Annotated[int, Meta(ge=0, le=2**32 - 1)]  # accesses through pointers of which nobody knows the bounds
    retried: bool = False  # an earlier target died under it
    lost: LostTest | None = None  # it is to be repeated
    # of a bug that is new to whoever ran it: the inputs that its path depends on
    depends: tuple[str, ...] | None = None
    small: Small | None = None  # the same bug with a simpler input
    # of a path in a fleet: what it took of decisions, if vectors are recorded and it is known
    taken: Taken | None = None


class PathTest(Struct, frozen=True, array_like=True):
    """One of the tests that the engine ran by itself: it took a path, and there is nothing else to say of it."""

    input: bytes
    verdict: Verdict
    code: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
    path_hash: Annotated[int, Meta(ge=0)]
    conditions: Annotated[int, Meta(ge=0, le=2**32 - 1)]
    layout: Annotated[int, Meta(ge=0)]  # which of those that are told with it
    output: Annotated[str, Meta(max_length=512)]  # the beginning, as its row has it


class Counted(Struct, frozen=True):
    """What a worker has counted since it was last asked; `memory` is as it is now. `refused`: calls that confinement
    has refused: what, file, line, how often."""

    tally: TallyRows
    link: LinkCounters
    memory: Memory
    refused: tuple[tuple[str, str, int, int], ...] = ()


class Describer:
    """Knows the image that is tested."""

    def __init__(self, image: Image) -> None:
        self._image = image

    @cached_property
    def _lines(self) -> LineTable:
        """Read for the first bug: most campaigns have none, and all clients would wait for it."""
        files = {site.file for site in self._image.sites.sites.values() if site.file}
        return LineTable(self._image.elf, files)

    def place(self, finished: Finished) -> Place:
        """Where a bug is."""
        return locate(finished, self._image.sites, self._lines)

    def lost(self, pair: Pair, data: bytes, why: str, site: int) -> LostTest:
        """A test that is set aside. `pair`: what is left of it; `data`: its input; `site`: where it was last seen."""
        at = self._image.sites.sites.get(site)
        return LostTest(pair.id, pair.to_bytes(), data, why, at.file if at else "", at.line if at else 0)

    def refused(self, calls: Mapping[Refused, int]) -> tuple[tuple[str, str, int, int], ...]:
        """Calls with the user's line that led to them, as far as that is seen: the innermost word of the stack that may
        be a return address into the user's code. Models of a library's functions call nothing that is refused; what
        looks like a way back into one was left there before."""
        models = f"{places.shipped('runtime')}{os.sep}"
        counts: Counter[tuple[str, str, int]] = Counter()
        for (call, words), count in calls.items():
            found = filter(None, (self._lines.find(word - 1) for word in words))
            file, line = next((place for place in found if not place[0].startswith(models)), ("", 0))
            counts[call, file, line] += count
        return tuple((*what, count) for what, count in sorted(counts.items()))

    def layout(self, finished: Finished, data: bytes) -> tuple[Named, ...]:
        """What the input of a run consists of that sent all its events."""
        trail = Trail(self._image.sites, self._image.verify, self._image.constants)
        trail.follow(finished.events, data)
        return self.named(trail.objects)

    def named(self, objects: Iterable[SymbolicObject]) -> tuple[Named, ...]:
        """The symbolic objects of a path with the kind of value they hold."""
        named: list[Named] = []
        for item in objects:
            site = self._image.sites[item.site]
            assert site.kind is SiteKind.SYMBOLIC
            named.append(Named(item.name, item.offset, item.size, _value_kind(site)))
        return tuple(named)


def _value_kind(site: Site) -> ValueKind:
    if site.size == 0:
        return "text" if site.flags & InputFlag.TEXT else "bytes"
    if site.flags & InputFlag.BOOLEAN:
        return "boolean"
    if site.flags & InputFlag.FLOAT:
        return "float"
    return "signed" if site.flags & InputFlag.SIGNED else "unsigned"
