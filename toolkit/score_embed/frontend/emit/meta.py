"""Site ids, coverage indices and the text of `.sc_meta`: what is counted through a whole image.

A site's place (file, line, function, name) is no number that the compiler could compute, so it travels as JSON in a
section beside the site table.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from score_embed.contract.meta import ConditionRow, DecisionRow, SiteRow, StretchRow, UnitText, written
from score_embed.contract.sites import FIRST_SITE
from score_embed.frontend.ir.body import Coord, Decision

_SITES = 500  # of one text: where int has 16 bits no array has more than 32767 bytes
_PORTION = 12_000  # bytes of decisions, or of stretches, in one text, but for one that has more

Row = TypeVar("Row", DecisionRow, StretchRow)


@dataclass
class Numbering:
    """Site ids and coverage indices, unique over all translation units of an image."""

    site: int = FIRST_SITE
    coverage: int = 0
    has_opaque_code: bool = False  # beside the C library there is code of the program without probes
    begins_outside: bool = False  # main has no probes
    beyond_names: bool = False  # something is called through a pointer, or is assembly
    finds_objects: bool = False  # something is read or stored at a symbolic address in an object that has no name there
    shared: dict[tuple[object, ...], int] = field(default_factory=dict)  # coverage indices of branches in headers

    def next_site(self) -> int:
        self.site += 1
        return self.site - 1

    def take_coverage(self, count: int) -> int:
        self.coverage += count
        return self.coverage - count

    def shared_coverage(self, branch: tuple[object, ...], count: int) -> int:
        """The same indices for each copy of a branch in a header: what a program covers is lines, not copies."""
        if branch not in self.shared:
            self.shared[branch] = self.take_coverage(count)
        return self.shared[branch]


@dataclass
class Meta:
    """What goes into `.sc_meta` for one translation unit."""

    file: str
    files: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    sites: list[SiteRow] = field(default_factory=list)
    # with their conditions' sites
    decisions: dict[int, tuple[Decision, str, dict[int, int]]] = field(default_factory=dict)
    stretches: list[StretchRow] = field(default_factory=list)  # of statements, if they are told

    def add(self, site: int, coord: Coord, function: str, name: str) -> None:
        file = _index(self.files, coord.file)
        self.sites.append(SiteRow(site, file, coord.line, _index(self.functions, function), name))

    def decide(self, decision: Decision, condition: int, site: int, function: str) -> None:
        """A condition of a decision has this site. Those of a single condition are not listed."""
        if decision.has_several:
            known = self.decisions.setdefault(id(decision), (decision, function, {}))
            known[2][condition] = site

    def tell(
        self,
        enter: int,
        function: str,
        lines: Sequence[Coord],
        sure: int,
        begun: list[int],
        ended: list[int],
        *,
        beside: bool,
    ) -> None:
        """A stretch of statements of the function with this `enter` site: as contract/coverage.py has it."""
        places = [(_index(self.files, line.file), line.line) for line in lines]
        where = _index(self.functions, function)
        self.stretches.append(StretchRow(enter, where, places, sure, begun, ended, int(beside)))

    def c(self) -> str:
        units = [UnitText(sites=self.sites[at : at + _SITES]) for at in range(0, max(len(self.sites), 1), _SITES)]
        units += [UnitText(decisions=rows) for rows in _portions(self._decided())]
        units += [UnitText(statements=rows) for rows in _portions(self.stretches)]
        for unit in units:
            unit.file, unit.files, unit.functions = self.file, self.files, self.functions
        return "".join(_array(n, written(unit)) for n, unit in enumerate(units))

    def _decided(self) -> Iterator[DecisionRow]:
        for decision, function, sites in self.decisions.values():
            conditions = [
                ConditionRow(sites.get(number, 0), text, literal)
                for number, (text, literal) in enumerate(zip(decision.texts, decision.literals, strict=True))
            ]
            place = _index(self.files, decision.coord.file), decision.coord.line, _index(self.functions, function)
            yield DecisionRow(*place, decision.postfix, conditions)


def _portions(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Rows that go into one text."""
    portion: list[Row] = []
    size = 0
    for row in rows:
        size += len(written(row))
        if portion and size > _PORTION:
            yield portion
            portion, size = [], len(written(row))
        portion.append(row)
    if portion:
        yield portion


def _array(number: int, text: str) -> str:
    parts = [json.dumps(text[i : i + 400]) for i in range(0, len(text), 400)]
    body = "\n  ".join(part.replace("?", "\\?") for part in parts)
    return f'static const char sc_meta{number}[] __attribute__((section(".sc_meta"), used)) =\n  {body};\n'


def _index(items: list[str], item: str) -> int:
    if item not in items:
        items.append(item)
    return items.index(item)
