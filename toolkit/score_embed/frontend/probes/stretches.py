"""Which statements of C ran, told by the directions of branches that were taken: where these do not tell, a mark does.

A body is cut into stretches that nothing enters or leaves in its midst: basic blocks, cut behind each call that may not
come back. A branch with a probe tells that its stretch has ended, and its directions that others have begun. Marks are
put where no branch tells: where a function begins, behind such calls, and at the end of stretches that something may
end in their midst (a fault, a check, the budget) where somebody has to know. What a mark would say that a branch says
already has none.

So `begun` is exact, and `ended` is never said too early: see contract/coverage.py, which reads both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import TypeAlias

from score_embed.frontend.ir.body import (
    Assign,
    Begin,
    Body,
    Branch,
    Call,
    Clear,
    Coord,
    Goto,
    Jump,
    Label,
    Note,
    Pin,
    Return,
    Stmt,
    Switch,
)
from score_embed.frontend.ir.exp import Binary, Exp, Load, Place, Raw, SlotRef
from score_embed.frontend.ir.flow import Block, blocks_of

Way: TypeAlias = tuple[int, int]  # the id() of a branch or switch, and how it came out; 0 and the number of a mark
MARK = 0
# They do not come back. Others that nobody knows to end or to jump only leave more statements uncertain.
_ENDING = frozenset(
    ["exit", "_exit", "_Exit", "quick_exit", "abort", "longjmp", "_longjmp", "siglongjmp", "raise", "kill"]
)


@dataclass
class Told:
    """A stretch of statements, as contract/coverage.py has it, with ways in place of indices."""

    lines: list[Coord] = field(default_factory=list)
    sure: int = 0
    begun: set[Way] = field(default_factory=set)
    ended: set[Way] = field(default_factory=set)
    can_stop: bool = False  # a test may end in its midst

    @property
    def is_sure(self) -> bool:
        """Whether all of its statements have begun if it has."""
        return self.sure == len(self.lines)


@dataclass
class Stretches:
    """Of one function. `before`, `behind`: statements (by id()) and the marks that stand there."""

    told: list[Told] = field(default_factory=list)
    before: dict[int, list[int]] = field(default_factory=dict)
    behind: dict[int, list[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Calls:
    """What is known of the calls of a program. `leaving`: functions that may not come back, though the test goes on or
    ends well: by `exit`, `longjmp` and the like; `interrupting`: those that interrupts may run."""

    leaving: frozenset[str] = frozenset()
    interrupting: frozenset[str] = frozenset()


NO_CALLS = Calls()


def calls_of(bodies: Sequence[Body]) -> Calls:
    """Of all functions with probes."""
    calls: dict[str, list[Call]] = {}
    for body in bodies:  # several units may have a function of one name
        calls.setdefault(body.name, []).extend(s for s in body.statements if isinstance(s, Call))
    leaving: set[str] = set()
    while more := {name for name in calls.keys() - leaving if any(_leaves(call, leaving) for call in calls[name])}:
        leaving |= more
    return Calls(frozenset(leaving), _run_by([body.name for body in bodies if body.handler], calls))


def _run_by(handlers: Sequence[str], calls: Mapping[str, Sequence[Call]]) -> frozenset[str]:
    """What handlers may call: any function, where one calls what has no name here, or no probes."""
    found: set[str] = set()
    waiting = list(handlers)
    while waiting:
        name = waiting.pop()
        if name in found or name not in calls:
            continue
        found.add(name)
        if any(call.kind != "known" and not (call.library and call.harmless) for call in calls[name]):
            return frozenset(calls)
        waiting += [call.name for call in calls[name] if call.kind == "known"]
    return frozenset(found)


def _leaves(call: Call, leaving: AbstractSet[str]) -> bool:
    if call.kind == "known":
        return call.name in leaving
    return not (call.library and call.harmless) or call.name in _ENDING


def stretches(body: Body, leaving: AbstractSet[str]) -> Stretches:
    """Of a body as it is printed. `leaving`: see Calls."""
    if not any(isinstance(s, Begin) for s in body.statements):
        return Stretches()
    return _Marking(blocks_of(body), leaving).made()


class _Marking:
    """Of one function."""

    def __init__(self, blocks: Sequence[Block], leaving: AbstractSet[str]) -> None:
        self._blocks = [block for block in blocks if block.statements]
        self._pieces = [list(_pieces(block, leaving)) for block in self._blocks]
        self._told = [[_told(piece) for piece in pieces] for pieces in self._pieces]
        self._places: list[tuple[dict[int, list[int]], int]] = []  # of marks: before or behind which statement
        self._found = Stretches()

    def made(self) -> Stretches:
        """Ways for all stretches, and marks where they need them."""
        for number, block in enumerate(self._blocks):
            self._within(number)
            self._at_end(number, block.statements[-1])
        self._beginnings()
        self._spread()
        self._found.told = [told for all_ in self._told for told in all_ if told.lines]
        self._keep_needed()
        return self._found

    def _mark(self, places: dict[int, list[int]], statement: Stmt) -> Way:
        self._places.append((places, id(statement)))
        return MARK, len(self._places) - 1

    def _within(self, number: int) -> None:
        """Calls that may not come back stand between the stretches of a block."""
        pieces, told = self._pieces[number], self._told[number]
        for piece, one, after in zip(pieces, told, told[1:], strict=False):
            if not one.is_sure:
                one.ended.add(self._mark(self._found.before, piece[-1]))
            back = self._mark(self._found.behind, piece[-1])
            one.ended.add(back)
            after.begun.add(back)

    def _at_end(self, number: int, last: Stmt) -> None:
        """The last stretch of a block: what tells that it has ended."""
        one = self._told[number][-1]
        ways = _ways(last)
        if ways:
            one.ended.update(way for way, _ in ways)
            if not one.can_stop:
                one.begun = one.ended
        elif one.can_stop:
            ends = isinstance(last, (Branch, Jump, Return, Goto))
            one.ended.add(self._mark(self._found.before if ends else self._found.behind, last))

    def _beginnings(self) -> None:
        """Blocks that something leads to that does not tell: the caller, a branch without a probe, a computed goto."""
        told_by_branches: list[set[Way]] = [set() for _ in self._blocks]
        silent = {0}
        labels = {s.name: n for n, block in enumerate(self._blocks) for s in block.statements if isinstance(s, Label)}
        for number, block in enumerate(self._blocks):
            last = block.statements[-1]
            ways = _ways(last)
            for way, label in ways:
                to = labels[label] if label else number + 1
                if to < len(told_by_branches):
                    told_by_branches[to].add(way)
            if not ways and isinstance(last, (Branch, Jump)):
                silent.update(block.after)
        for number, (block, told) in enumerate(zip(self._blocks, self._told, strict=True)):
            first = told[0]
            if first.begun is first.ended:
                continue  # its branch tells
            if number in silent:
                head = block.statements[0]
                at = self._found.behind if isinstance(head, Label) else self._found.before
                first.begun.add(self._mark(at, head))
            else:
                first.begun |= told_by_branches[number]

    def _spread(self) -> None:
        """From each stretch to those that it leads to without a branch."""
        marked = {id(told[0]) for told in self._told if told[0].begun is told[0].ended or _has_mark(told[0].begun)}
        changed = True
        while changed:
            changed = False
            for block, all_ in zip(self._blocks, self._told, strict=True):
                one = all_[-1]
                size = len(one.ended)
                if not one.can_stop and one.begun is not one.ended:
                    one.ended |= one.begun
                changed |= len(one.ended) > size
                if isinstance(block.statements[-1], (Branch, Switch, Jump)):
                    continue
                for number in block.after:
                    if number >= len(self._told) or id(self._told[number][0]) in marked:
                        continue
                    begun = self._told[number][0].begun
                    size = len(begun)
                    begun |= one.ended
                    changed |= len(begun) > size

    def _keep_needed(self) -> None:
        """Leave out what nobody asks, and number the marks that stay."""
        for told in self._found.told:
            if told.begun is not told.ended and told.is_sure:
                told.ended = set()
        used = {number for told in self._found.told for key, number in told.begun | told.ended if key == MARK}
        fresh = {number: new for new, number in enumerate(sorted(used))}
        for number in sorted(used):
            places, statement = self._places[number]
            places.setdefault(statement, []).append(fresh[number])
        for told in self._found.told:
            told.begun, told.ended = (
                {(key, fresh[number] if key == MARK else number) for key, number in ways}
                for ways in (told.begun, told.ended)
            )


def _has_mark(ways: AbstractSet[Way]) -> bool:
    return any(key == MARK for key, _ in ways)


def _pieces(block: Block, leaving: AbstractSet[str]) -> Iterable[list[Stmt]]:
    """A block in pieces: each but the last ends with a call that may not come back."""
    piece: list[Stmt] = []
    for s in block.statements:
        piece.append(s)
        if isinstance(s, Call) and _leaves(s, leaving):
            yield piece
            piece = []
    yield piece


def _told(piece: Sequence[Stmt]) -> Told:
    made = Told()
    for s in piece:
        if isinstance(s, Begin):
            made.lines.append(s.coord)
            made.sure += not made.can_stop
        made.can_stop |= _can_stop(s)
    return made


def _ways(last: Stmt) -> list[tuple[Way, str]]:
    """The ways out of a block that a probe tells, and the labels that they lead to; "": to the next block."""
    match last:
        case Branch() if not last.constant:
            return [((id(last), int(last.when)), last.label), ((id(last), int(not last.when)), "")]
        case Switch():
            labels = [*(case.label for case in last.cases), last.default]
            return [((id(last), arm), label) for arm, label in enumerate(labels)]
    return []


def _can_stop(s: Stmt) -> bool:
    """Whether a test may end in it: where nothing is known, it may."""
    match s:
        case Begin() | Label() | Goto() | Jump() | Note() | Pin() | Clear() | Switch():
            return False
        case Branch():
            return not (_is_harmless(s.left) and _is_harmless(s.right))
        case Return():
            return not (s.value is None or isinstance(s.value, SlotRef))
    if type(s) is not Assign:
        return True
    return not (_is_harmless(s.exp) and (isinstance(s.dest, SlotRef) or _is_there(s.dest)))


def _is_harmless(exp: Exp) -> bool:
    """Whether nothing can happen while it is computed."""
    for part in exp.walk():
        if isinstance(part, Raw) or (isinstance(part, Binary) and part.op in ("/", "%")):
            return False
        if isinstance(part, Load) and not _is_there(part.place):
            return False
    return True


def _is_there(place: Place) -> bool:
    """Whether it is a variable, or a fixed part of one."""
    return not place.slots and place.pointer is None and not place.subscripts and place.bit_field is None
