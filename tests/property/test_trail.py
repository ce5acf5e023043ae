"""The trail against a fresh replay: after any run, whatever came before, both say the same."""

from __future__ import annotations

from typing import Any

from events import Stream, assign, compare, condition, copy_template, memory, pin, replay, slot, symbolic, table
from hypothesis import given, settings
from hypothesis import strategies as st

from score_embed.contract.sites import Op, Site, SiteKind, Step, Template
from score_embed.trace.trail import Condition, Trail

_SUM = Template((slot(1, 8), slot(2, 8)), (Step(Op.LEAF, 8, 0), Step(Op.LEAF, 8, 1), Step(Op.ADD, 8)))
_BELOW = Template((slot(1, 8), slot(2, 8)), (Step(Op.LEAF, 8, 0), Step(Op.LEAF, 8, 1), Step(Op.ULT, 8)))
SITES = table(
    symbolic(16, slot(1, 8), 1, "x"),
    symbolic(17, memory(8), 0, "buf"),
    assign(19, slot(2, 8), _SUM),
    assign(20, memory(8), copy_template(slot(2, 8))),
    assign(21, slot(2, 8), copy_template(memory(8))),
    condition(22, _BELOW),
    condition(23, compare(Op.EQ, slot(2, 8), 3)),
    Site(24, SiteKind.SWITCH, leaves=(slot(2, 8),), labels=((1, 1), (2, 3)), coverage=90),
    Site(25, SiteKind.CALL, leaves=(slot(1, 8), slot(2, 8))),
    Site(26, SiteKind.RESULT, dest=slot(2, 8)),
    Site(27, SiteKind.OPAQUE, dest=slot(2, 8)),
    Site(28, SiteKind.COPY),
    pin(29, slot(2, 8)),
    pin(30, slot(1, 8), "argument"),
)
BUFFER = 0x3000
MOST = 4  # values are small, so that directions and pinned values often agree by chance

# An event as (kind, a small number): what it means is written by `stream`.
events = st.lists(st.tuples(st.integers(0, 13), st.integers(0, 3)), max_size=14)
inputs = st.binary(min_size=8, max_size=8).map(lambda data: bytes(byte % MOST for byte in data))


def stream(chosen: list[tuple[int, int]]) -> bytes:
    """Declares x and four bytes of memory, copies x to slot 2, then sends what was chosen."""
    s = Stream().head(16).head(17).address(BUFFER).varint(4).head(19).varint(0b0001).signed(0)
    taken = 5  # bytes of input
    for kind, n in chosen:
        if kind == 0 and taken < 8:
            s.head(16)
            taken += 1
        elif kind == 1:
            s.head(19).varint(0b0101)
        elif kind == 2:
            s.head(20).address(BUFFER + n)
        elif kind == 3:
            s.head(21).address(BUFFER + n)
        elif kind == 4:
            s.head(22, n & 1).varint(0b0101)
        elif kind in (5, 6):
            s.head(23, n & 1)
        elif kind == 7:
            s.head(24).varint(n % 3)
        elif kind == 8:
            s.head(25).varint(n)
        elif kind == 9:
            s.head(27).signed(n)
        elif kind == 10:
            s.head(28).address(BUFFER + n).address(BUFFER).varint(2)
        elif kind == 11:
            s.head(29 + (n & 1))
        elif kind == 12:
            s.head(3).varint(25)
        else:
            s.head(23, 0)
    return bytes(s)


PARTS = [name for name in vars(Condition) if not name.startswith("_") and name not in ("chosen", "hash")]


def described(trail: Trail) -> dict[str, Any]:
    return {
        "conditions": [
            (*(getattr(c, name) for name in PARTS), c.hash(), c.hash(flipped=True), c.chosen and c.chosen[:3])
            for c in trail.conditions
        ],
        "pins": list(trail.pins),
        "objects": list(trail.objects),
        "notes": dict(trail.notes),
        "diverged": (trail.diverged, trail.diverged_elsewhere),
        "operands": trail.operand_hash,
        "data": trail.data,
    }


@settings(deadline=None, max_examples=400)
@given(events, st.lists(st.tuples(st.integers(0, 14), events, st.integers(0, 12), inputs), min_size=1, max_size=6))
def test_a_trail_is_what_a_fresh_replay_gives(
    first: list[tuple[int, int]], runs: list[tuple[int, list[tuple[int, int]], int, bytes]]
) -> None:
    trail, chosen = Trail(SITES), first
    trail.follow(stream(chosen), bytes(8))
    for keep, rest, limit, data in runs:
        chosen = chosen[:keep] + rest
        sent = stream(chosen)
        seen: list[int] = []

        def visit(index: int, condition: Condition, seen: list[int] = seen) -> None:
            seen.append(index)

        kept = trail.rewind(sent, data, limit)
        assert kept <= limit or kept == 0
        trail.extend(visit)
        assert seen == list(range(kept, len(trail.conditions)))
        assert described(trail) == described(replay(SITES, sent, data))


@settings(deadline=None, max_examples=200)
@given(events, inputs)
def test_what_a_flip_shares_is_a_prefix_that_ends_before_its_branch(chosen: list[tuple[int, int]], data: bytes) -> None:
    trail = replay(SITES, stream(chosen), data)
    for index, taken in enumerate(trail.conditions):
        shared = trail.shared(index)
        assert len(shared) == taken.start
        assert trail.events.startswith(shared)
        again = replay(SITES, shared, data)
        assert [c.formula for c in again.conditions] == [c.formula for c in trail.conditions if c.start < len(shared)]
