"""What is told of statements holds, whatever the flow of a function, and wherever its runs end.

Random functions in normal form are run by an interpreter that takes note of what the target would: directions and
marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from score_embed.contract.coverage import Stretch
from score_embed.frontend.ir.body import Assign, Begin, Body, Branch, Call, Coord, Goto, Label, Return, Stmt, Verbatim
from score_embed.frontend.ir.exp import Const, Slot, SlotRef
from score_embed.frontend.probes.stretches import MARK, Stretches, Way, stretches
from score_embed.frontend.types.ctype import Int

INT = Int("int", 32, True, 3)
ZERO = Const(INT, "0", 0)
SLOT = SlotRef(INT, Slot(1, "x", INT))
HERE = Coord("t.c", 1)
BLOCKS = 5
_MOST_STEPS = 60

parts = st.lists(st.sampled_from(["begin", "begin", "harmless", "stopping", "leaving"]), max_size=5)
ends = st.one_of(
    st.just(("falls", 0)),
    st.just(("returns", 0)),
    st.tuples(st.sampled_from(["goes", "branches", "constant"]), st.integers(0, BLOCKS - 1)),
)
functions = st.lists(st.tuples(parts, ends), min_size=BLOCKS, max_size=BLOCKS)
choices = st.lists(st.integers(0, 3), min_size=_MOST_STEPS, max_size=_MOST_STEPS)


def body_of(blocks: Sequence[tuple[list[str], tuple[str, int]]]) -> Body:
    statements: list[Stmt] = []
    for number, (inside, (end, to)) in enumerate(blocks):
        statements.append(Label(HERE, f"L{number}"))
        statements += [statement(part) for part in inside]
        match end:
            case "returns":
                statements.append(Return(HERE, None))
            case "goes":
                statements.append(Goto(HERE, f"L{to}"))
            case "branches" | "constant":
                statements.append(
                    Branch(HERE, "==", SLOT, ZERO, f"L{to}", bool(number % 2), constant=end == "constant")
                )
    return Body("f", "f", "", INT, 0, [], statements=statements, slots=2)


def statement(part: str) -> Stmt:
    match part:
        case "begin":
            return Begin(HERE)
        case "harmless":
            return Assign(HERE, SLOT, ZERO)
        case "stopping":
            return Verbatim(HERE, "")
    return Call(HERE, "f", None, [], "indirect", False, False, INT, "f")


@dataclass
class Seen:
    """By some runs: the statements that began, and what the target told."""

    begun: set[int] = field(default_factory=set)
    covered: set[Way] = field(default_factory=set)
    all_ended: bool = True


def run(body: Body, told: Stretches, choices: Sequence[int], seen: Seen) -> None:
    """Each choice serves one step: 1 goes the branch's way, 0 ends the test where that can be."""
    places = {s.name: at for at, s in enumerate(body.statements) if isinstance(s, Label)}
    at, jumped = 0, False
    for choice in choices:
        if at >= len(body.statements):
            return
        s = body.statements[at]
        if not jumped:  # what stands before a label is passed over
            seen.covered.update((MARK, number) for number in told.before.get(id(s), ()))
        jumped = False
        if isinstance(s, Begin):
            seen.begun.add(id(s))
        if isinstance(s, (Verbatim, Call)) and choice == 0:
            seen.all_ended = False
            return
        at += 1
        match s:
            case Return():
                return
            case Goto():
                at, jumped = places[s.label], True
            case Branch():
                jumps = choice % 2 == 1
                if not s.constant:
                    seen.covered.add((id(s), int(jumps == s.when)))
                if jumps:
                    at, jumped = places[s.label], True
        seen.covered.update((MARK, number) for number in told.behind.get(id(s), ()))
    seen.all_ended = False


@settings(deadline=None, max_examples=500)
@given(functions, st.lists(choices, min_size=1, max_size=4))
def test_what_is_told_holds(blocks: list[tuple[list[str], tuple[str, int]]], runs: list[list[int]]) -> None:
    body = body_of(blocks)
    told = stretches(body, frozenset())
    seen = Seen()
    for choice in runs:
        run(body, told, choice, seen)
    begins = [id(s) for s in body.statements if isinstance(s, Begin)]
    assert sum(len(one.lines) for one in told.told) == len(begins)
    numbers = {way: number for number, way in enumerate({way for one in told.told for way in one.begun | one.ended})}
    covered = {numbers[way] for way in seen.covered if way in numbers}
    for one in told.told:
        begun, ended = (tuple(numbers[way] for way in ways) for ways in (one.begun, one.ended))
        row = Stretch("f", tuple((line.file, line.line) for line in one.lines), one.sure, begun, ended)
        here, begins = begins[: len(one.lines)], begins[len(one.lines) :]
        true = [number in seen.begun for number in here]
        reached = row.reached(covered)
        assert all(true[:reached])  # none is reached that was not
        if not row.is_begun(covered):
            assert not any(true)  # none is unreachable that was reached
        if seen.all_ended:
            assert reached == sum(true)  # nothing is uncertain without a reason


@given(functions)
def test_no_mark_is_put_that_nobody_asks_for(blocks: list[tuple[list[str], tuple[str, int]]]) -> None:
    told = stretches(body_of(blocks), frozenset())
    asked = {number for one in told.told for key, number in one.begun | one.ended if key == MARK}
    put = [number for places in (told.before, told.behind) for numbers in places.values() for number in numbers]
    assert sorted(put) == sorted(asked) == list(range(len(put)))
