"""Block sites: pure definitions substituted forward, so that copies, casts and moves need no probe of their own.

A definition `slot := exp` needs none if every probe that looks at the slot's taint before it is defined again stands
in the same basic block and can say `exp` itself: over leaves that still have their values. What the program computes
stays as it is; only the formulas of later probes say more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeGuard

from score_embed.frontend.ir.body import Assign, Body, Branch, Call, Recall, Select, Stmt, Truncate
from score_embed.frontend.ir.exp import Const, Convert, Exp, Raw, SlotRef
from score_embed.frontend.ir.flow import (
    Block,
    blocks_of,
    live_after,
    read_by_formulas,
    read_by_itself,
    slot_written,
    slots_in,
    tainted_before,
)
from score_embed.frontend.lower.expressions import MOST_LEAVES, leaf_count
from score_embed.frontend.probes.formulas import Formula, changes, is_pure, substituted
from score_embed.frontend.probes.maybe import Maybe
from score_embed.frontend.probes.pins import repeated_pins
from score_embed.frontend.types.ctype import CType, Pointer, Types, as_int, is_float, is_integer
from score_embed.frontend.types.library_calls import RETURNS_TWICE

_NOTHING: Mapping[int, Exp] = {}


@dataclass
class Plan:
    """What the probes of one function may leave out. Statements are named by their id()."""

    silent: set[int] = field(default_factory=set)  # definitions without a probe
    known: dict[int, Mapping[int, Exp]] = field(default_factory=dict)  # what silent slots hold before a statement
    results: dict[int, SlotRef] = field(default_factory=dict)  # calls: the slot that their result's taint goes to
    pinned: set[tuple[int, str]] = field(
        default_factory=set
    )  # places (statement, text) whose address is pinned already
    tainted: dict[int, frozenset[int]] | None = None  # slots whose taint bit may be set before a statement

    def formula(self, s: Stmt, exp: Exp) -> Exp:
        """`exp` as a probe of the statement says it."""
        return substituted(exp, self.known.get(id(s), _NOTHING))

    def maybe(self, s: Stmt, maybe: Maybe) -> Maybe:
        """What may be symbolic before the statement."""
        return maybe if self.tainted is None else maybe.among(self.tainted[id(s)])


def plan(body: Body, types: Types, maybe: Maybe) -> Plan:
    """Decide for one function."""
    made = Plan()
    if any(isinstance(s, Call) and s.name in RETURNS_TWICE for s in body.statements):
        return made  # values and taint come back from later
    blocks = blocks_of(body)
    for block, live in zip(blocks, live_after(blocks), strict=True):
        _Substitution(block, live, types, maybe, made).decide()
    made.tainted = tainted_before(blocks, {i + 1 for i in range(body.scalars) if maybe.slot(i + 1)}, _bits(made, maybe))
    made.pinned = repeated_pins(blocks, made.known, maybe)
    return made


def _bits(made: Plan, maybe: Maybe) -> Callable[[Stmt, set[int]], None]:
    """How a statement's probe changes the taint bits of slots."""

    def transfer(s: Stmt, bits: set[int]) -> None:
        dest = slot_written(s)
        if isinstance(s, Call) and id(s) in made.results:
            dest = made.results[id(s)].slot.index
        if dest is None or id(s) in made.silent:
            return
        if _is_definition(s) and not maybe.among(frozenset(bits)).exp(made.formula(s, s.exp)):
            bits.discard(dest)
        elif maybe.slot(dest):
            bits.add(dest)

    return transfer


@dataclass
class _Definition:
    """A definition in force: what its slot holds, and whether that can still be said."""

    statement: Stmt
    formula: Formula
    stale: bool = False
    uses: int = 0
    guarded: int = 0

    @property
    def exp(self) -> Exp:
        return self.formula.exp


class _Substitution:
    """Forward substitution in one basic block: tries with all definitions, again without those that fail."""

    def __init__(self, block: Block, live: set[int], types: Types, maybe: Maybe, made: Plan) -> None:
        self.block, self.live, self.types, self.maybe, self.made = block, live, types, maybe, made
        last = {slot_written(s): id(s) for s in block.statements}
        self._rejected = {statement for slot, statement in last.items() if slot in live}

    def decide(self) -> None:
        while True:
            before = len(self._rejected)
            silent, known, results = self._attempt()
            if len(self._rejected) == before:
                break
        self.made.silent |= silent
        self.made.known |= known
        self.made.results |= results

    def _attempt(self) -> tuple[set[int], dict[int, Mapping[int, Exp]], dict[int, SlotRef]]:
        """One pass over the block. Adds to the rejected definitions; without a new one its result stands."""
        active: dict[int, _Definition] = {}
        silent: set[int] = set()
        known: dict[int, Mapping[int, Exp]] = {}
        results: dict[int, SlotRef] = {}
        previous: Stmt | None = None
        for s in self.block.statements:
            for index in read_by_itself(s):
                if index in active:
                    self._reject(active.pop(index))
            known[id(s)] = self._used(s, active)
            self._kill(s, active)
            dest = slot_written(s)
            if dest is not None:
                active.pop(dest, None)
            target = self._result_of(previous, s)
            if target is not None and isinstance(s, Assign) and isinstance(previous, Call):
                silent.add(id(s))
                results[id(previous)] = target
            elif dest is not None and _is_definition(s) and id(s) not in self._rejected:
                definition = self._definition(s, known[id(s)])
                if definition is not None:
                    active[dest] = definition
                    silent.add(id(s))
            previous = s
        return silent, known, results

    def _reject(self, definition: _Definition) -> None:
        self._rejected.add(id(definition.statement))

    def _definition(self, s: Assign, known: Mapping[int, Exp]) -> _Definition | None:
        assert isinstance(s.dest, SlotRef)
        exp = substituted(s.exp, known)
        if not is_pure(exp) or self._bits(s.dest.type) != self._bits(exp.type):
            return None
        if not self.maybe.exp(exp) and not isinstance(exp, Const):
            exp = Raw(s.dest.type, s.dest.c())  # never tainted: the slot itself says its value
        elif exp.type != s.dest.type:
            exp = Convert(s.dest.type, exp)
        formula = Formula.of(exp)
        return _Definition(s, formula, stale=s.dest.slot.index in formula.slots)

    def _bits(self, t: CType) -> int:
        if isinstance(t, Pointer):
            return self.types.model.pointer
        return t.bits if is_float(t) else as_int(t).bits if is_integer(t) else 0

    def _used(self, s: Stmt, active: dict[int, _Definition]) -> dict[int, Exp]:
        """The definitions that the statement's formulas use."""
        used: dict[int, Exp] = {}
        total = 0
        for exp, guarded in read_by_formulas(s):
            total = total if isinstance(s, Branch) else 0
            total += leaf_count(exp)
            for index in sorted(slots_in(exp) & active.keys()):
                definition = active[index]
                definition.uses += 1
                definition.guarded += guarded
                occurrences = sum(isinstance(e, SlotRef) and e.slot.index == index for e in exp.walk())
                total += (leaf_count(definition.exp) - 1) * occurrences
                if definition.stale or total > MOST_LEAVES or not _pays(definition):
                    self._reject(active.pop(index))  # at once: formulas would grow without bound
                    used.pop(index, None)
                else:
                    used[index] = definition.exp
        return used

    def _kill(self, s: Stmt, active: dict[int, _Definition]) -> None:
        """Definitions that the statement makes unspeakable: a leaf of theirs gets another value."""
        for definition in active.values():
            definition.stale |= changes(s, definition.formula, self.maybe)

    def _result_of(self, call: Stmt | None, s: Stmt) -> SlotRef | None:
        """`t = f(); x = t;` where t is not used again: the slot x, which then gets the result's taint at once."""
        if not (isinstance(call, Call) and isinstance(call.dest, SlotRef) and self.maybe.slot(call.dest.slot.index)):
            return None
        if not (_is_definition(s) and isinstance(s.dest, SlotRef)) or is_float(s.exp.type) != is_float(call.dest.type):
            return None
        exp = s.exp.operand if isinstance(s.exp, Convert) else s.exp
        if exp != call.dest or self._bits(s.exp.type) != self._bits(exp.type) or not self._bits(exp.type):
            return None
        if self._bits(s.dest.type) != self._bits(exp.type) or s.dest.slot is call.dest.slot:
            return None
        return None if self._is_read_after(s, call.dest.slot.index) else s.dest

    def _is_read_after(self, s: Stmt, index: int) -> bool:
        statements = self.block.statements
        at = next(i for i, other in enumerate(statements) if other is s)
        for later in statements[at + 1 :]:
            if index in read_by_itself(later) or any(index in slots_in(exp) for exp, _ in read_by_formulas(later)):
                return True
            if slot_written(later) == index:
                return False
        return index in self.live


def _is_definition(s: Stmt) -> TypeGuard[Assign]:
    """Whether the slot holds what the expression says. What a Select reads depends on its address, too, a Truncate on
    the range; an origin may be recalled."""
    return isinstance(s, Assign) and not isinstance(s, (Select, Truncate, Recall))


def _pays(definition: _Definition) -> bool:
    """Whether saying the definition again at each use costs no more than its own probe."""
    if isinstance(definition.exp, (Const, Raw)):
        return True
    if definition.formula.loads and definition.guarded > 1:
        return False  # a guard on slots goes where memory is looked at
    return definition.uses <= 1 or leaf_count(definition.exp) <= 1
