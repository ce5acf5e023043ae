"""What one test brought, in the user's words: where it ended, what its inputs are called. For whoever runs the test."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from score_embed.contract.outcome import Finished, Run, Verdict
from score_embed.contract.sites import InputFlag, Site, SiteKind
from score_embed.explore.concolic import Outcome
from score_embed.image.image import Image
from score_embed.results.bugs import Place, locate
from score_embed.results.lines import LineTable
from score_embed.results.testcase import Named, ValueKind
from score_embed.trace.path import SymbolicObject

NOWHERE = Place("", 0, "", ())


@dataclass(slots=True)
class Entry:
    """One executed test as the books take it in."""

    input: bytes
    verdict: Verdict
    code: int
    path_hash: int
    conditions: int
    is_path: bool
    mispredicted: bool
    objects: tuple[Named, ...]
    place: Place  # of a bug
    output: bytes
    coverage: Sequence[int]  # indices that whoever ran it had not seen covered
    confirmed: bool = False  # a bug that showed again on a fresh target
    unchecked: int = 0  # accesses through pointers of which nobody knows the bounds


class Describer:
    """Knows the image that is tested."""

    def __init__(self, image: Image) -> None:
        self._image = image

    @cached_property
    def _lines(self) -> LineTable:
        """Read for the first bug: most campaigns have none, and all clients would wait for it."""
        files = {site.file for site in self._image.sites.sites.values() if site.file}
        return LineTable(self._image.elf, files)

    def entry(self, run: Run, finished: Finished, outcome: Outcome, coverage: Sequence[int]) -> Entry:
        verdict = finished.verdict
        return Entry(
            run.input if verdict is Verdict.LOST else run.input[: finished.input_used],
            verdict,
            finished.code,
            finished.path_hash,
            finished.conditions,
            outcome.is_path,
            outcome.mispredicted,
            self.named(outcome.objects),
            locate(finished, self._image.sites, self._lines) if verdict.is_bug else NOWHERE,
            finished.output,
            coverage,
            unchecked=finished.unchecked,
        )

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
        return "bytes"
    if site.flags & InputFlag.BOOLEAN:
        return "boolean"
    if site.flags & InputFlag.FLOAT:
        return "float"
    return "signed" if site.flags & InputFlag.SIGNED else "unsigned"
