"""The flow of one function in normal form: basic blocks, what statements read and write, which slots are live.

What counts is *taint*: a slot is read where a probe looks at its taint, and live where one may do so later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from score_embed.frontend.ir.body import (
    Assign,
    Body,
    BoundsCheck,
    Branch,
    Call,
    Check,
    Copy,
    ForgetObject,
    Goto,
    Jump,
    Label,
    Pin,
    Return,
    Select,
    SetPlain,
    SpanCheck,
    Stmt,
    Store,
    Stray,
    Switch,
    Symbolic,
    Truncate,
)
from score_embed.frontend.ir.exp import Exp, Load, Place, Raw, SlotRef

RESULT_SLOT = 0


@dataclass
class Block:
    """Statements that run one after the other. `after`: indices of the blocks that may run next; none: it returns."""

    statements: list[Stmt]
    after: list[int] = field(default_factory=list)


def blocks_of(body: Body) -> list[Block]:
    """The basic blocks of a function; the first is its entry, the last its end."""
    blocks, current = [], Block([])
    starts: dict[str, int] = {}
    ends_here: list[bool] = []  # nothing falls through to the next block
    for statement in body.statements:
        if isinstance(statement, Label) and current.statements:
            blocks.append(current)
            ends_here.append(False)
            current = Block([])
        if isinstance(statement, Label):
            starts[statement.name] = len(blocks)
        current.statements.append(statement)
        if isinstance(statement, (Branch, Goto, Jump, Switch, Return)):
            blocks.append(current)
            ends_here.append(not isinstance(statement, Branch))
            current = Block([])
    blocks.append(current)
    for index, (block, ends) in enumerate(zip(blocks, ends_here, strict=False)):
        block.after = [starts[label] for label in _jumps(block.statements[-1])]
        if not ends:
            block.after.append(index + 1)
    return blocks


def _jumps(last: Stmt) -> list[str]:
    match last:
        case Branch() | Goto():
            return [last.label]
        case Jump():
            return last.labels
        case Switch():
            return [*(case.label for case in last.cases), last.default]
    return []


def expressions(s: Stmt) -> list[Exp]:
    """The expressions that a statement evaluates, but for a pin's and an address's."""
    match s:
        case Assign() | SetPlain():
            return [s.exp]
        case Branch():
            return [s.left, s.right]
        case Call():
            return [a.exp for a in s.args if isinstance(a.exp, Exp)]
    return []


def places(s: Stmt) -> list[Place]:
    """Every memory place the statement touches: its address may be symbolic."""
    found = [e.place for exp in expressions(s) for e in exp.walk() if isinstance(e, Load)]
    match s:
        case Assign(dest=Place() as dest) | Symbolic(dest=Place() as dest):
            found.append(dest)
        case ForgetObject(place=Place() as place):
            found.append(place)
        case Copy():
            found += [s.dest, s.source]
        case Call():
            found += [a.exp for a in s.args if isinstance(a.exp, Place)]
        case Return(value=Place() as value):
            found.append(value)
    return found


def pinned_places(s: Stmt) -> list[Place]:
    """Of these, those whose address is used as it is in this run."""
    return [] if isinstance(s, (Select, Store)) else places(s)


def tracked_reads(raw: Raw) -> list[Exp]:
    return [e for e in raw.walk() if isinstance(e, (SlotRef, Load))]


def slots_in(exp: Exp) -> set[int]:
    return {e.slot.index for e in exp.walk() if isinstance(e, SlotRef)}


def loads_in(exp: Exp) -> list[Place]:
    return [e.place for e in exp.walk() if isinstance(e, Load)]


def read_by_formulas(s: Stmt) -> list[tuple[Exp, bool]]:
    """The formulas of a statement's probes, and whether the probe is left out while only slots are in it."""
    found = [(place.address, not isinstance(s, (Select, Store))) for place in places(s) if place.slots]
    for exp in expressions(s):
        found += [(read, True) for e in exp.walk() if isinstance(e, Raw) for read in tracked_reads(e)]
    match s:
        case Assign():
            found.append((s.exp, isinstance(s.dest, SlotRef)))
        case Branch():
            found += [(s.left, False), (s.right, False)]
        case Pin():
            found.append((s.exp, True))
        case Check() if s.tracked:
            found += [(s.left, True), (s.right, True)]
        case BoundsCheck():
            found += [(s.address, False), (s.origin, False)]
        case SpanCheck():
            found += [(s.pointer, False), (s.origin, False)]
    return found


def read_by_itself(s: Stmt) -> set[int]:
    """Slots whose own taint bit a probe of the statement reads."""
    match s:
        case Call():
            return {a.exp.slot.index for a in s.args if isinstance(a.exp, SlotRef)}
        case Switch():
            return {s.slot.slot.index}
        case SpanCheck(size=SlotRef() as size):
            return {size.slot.index}
        case Store(exp=SlotRef() as value) | Stray(made_of=SlotRef() as value):
            return {value.slot.index}
        case Return():
            return {RESULT_SLOT}
        case Truncate():
            return slots_in(s.exp)
    return set()


def written(s: Stmt) -> SlotRef | None:
    """The slot that it writes."""
    match s:
        case Assign(dest=SlotRef() as dest) | Symbolic(dest=SlotRef() as dest) | Call(dest=SlotRef() as dest):
            return dest
    return None


def slot_written(s: Stmt) -> int | None:
    """Its number."""
    dest = written(s)
    return dest.slot.index if dest is not None else None


def live_after(blocks: Sequence[Block]) -> list[set[int]]:
    """The slots that are live at the end of each block."""
    reads: list[set[int]] = []
    writes: list[set[int]] = []
    for block in blocks:
        read: set[int] = set()
        written: set[int] = set()
        for s in block.statements:
            used = read_by_itself(s).union(*(slots_in(exp) for exp, _ in read_by_formulas(s)))
            read |= used - written
            dest = slot_written(s)
            if dest is not None:
                written.add(dest)
        if not block.after:
            read |= {RESULT_SLOT} - written
        reads.append(read)
        writes.append(written)
    before = [set(read) for read in reads]
    after = [{RESULT_SLOT} if not block.after else set() for block in blocks]

    def step(index: int) -> bool:
        after[index].update(*(before[k] for k in blocks[index].after))
        grown = before[index] | (after[index] - writes[index])
        changed = grown != before[index]
        before[index] = grown
        return changed

    _to_fixed_point(lambda index: step(len(blocks) - 1 - index), len(blocks))
    return after


def tainted_before(
    blocks: Sequence[Block], entry: set[int], transfer: Callable[[Stmt, set[int]], None]
) -> dict[int, frozenset[int]]:
    """For each statement (by id): the slots whose taint bit may be set before it. `transfer` applies a statement."""
    before: list[set[int]] = [set() for _ in blocks]
    before[0] |= entry
    waits = [True] * len(blocks)  # what is before it has grown since it was looked at

    def step(index: int) -> bool:
        if not waits[index]:
            return False
        waits[index] = False
        bits = set(before[index])
        for s in blocks[index].statements:
            transfer(s, bits)
        changed = False
        for k in blocks[index].after:
            if not bits <= before[k]:
                before[k] |= bits
                waits[k] = changed = True
        return changed

    _to_fixed_point(step, len(blocks))
    found: dict[int, frozenset[int]] = {}
    for block, start in zip(blocks, before, strict=True):
        bits, known = set(start), frozenset(start)
        for s in block.statements:
            if bits != known:
                known = frozenset(bits)
            found[id(s)] = known
            transfer(s, bits)
    return found


def _to_fixed_point(step: Callable[[int], bool], count: int) -> None:
    changed = True
    while changed:
        changed = False
        for index in range(count):
            changed |= step(index)
