"""The trail: the decoded path of the last run, rolled back to where a new trace first differs and extended from there.

Consecutive tests share long prefixes, so work is done for the rest only: a checkpoint stands before every branch
event. Formulas do not depend on the input's values, so equal events have equal formulas; what does depend on them
(operands of branches, values of pins) is computed again where a changed input byte reaches it.

Each condition is evaluated under the run's own input and compared with what the target did. Where they disagree (a
*divergence*) the mirror no longer describes the run, so the path is cut there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from score_embed.contract.sites import Site, SiteKind, SiteTable
from score_embed.contract.words import Note
from score_embed.formula.expr import Expr, changed_bytes
from score_embed.formula.floats import may_be_nan, pattern_uses
from score_embed.trace import hash as hashes
from score_embed.trace.concrete import Concrete, Forks
from score_embed.trace.cursor import TraceError
from score_embed.trace.decoded import Checkpoint, Decoded
from score_embed.trace.memory import NotMirrored
from score_embed.trace.operands import Operands
from score_embed.trace.outcome import Outcome, place
from score_embed.trace.path import Condition, Disagreement, Pin, SymbolicObject, mixed
from score_embed.trace.selects import Constants, NoConstants
from score_embed.trace.steps import Step, Steps
from score_embed.trace.template import Programs

Visitor = Callable[[int, Condition], None]  # gets each new condition and its index before later ones are decoded


class Follower(Protocol):
    """What somebody knows of the path, condition by condition. It goes back when the trail does."""

    def cut(self, count: int) -> None:
        """The path is its first `count` conditions again."""

    def pass_by(self, condition: Condition) -> None:
        """The path goes on in this condition's direction."""


class _Branch(NamedTuple):
    """The state before a branch event. `counted`: conditions before it that the target counts."""

    point: Checkpoint
    lanes: hashes.Lanes
    counted: int


class Trail:
    """The path of the last run."""

    def __init__(
        self,
        table: SiteTable,
        verify: bool = False,
        constants: Constants | None = None,
        forks: Forks | None = None,
    ) -> None:
        self.table = table
        self._decoded = Decoded(table.pointer_bits, verify)
        concrete = Concrete(self._decoded, self._on_branch, forks or Forks())
        self._steps = Steps(Programs(table), self._decoded, self._on_branch, concrete, constants or NoConstants())
        self._compiled: dict[int, Step] = {}  # by the head of the event
        self._visit: Visitor = _ignore
        self._followers: list[Follower] = []
        self.last_site = 0  # of the last event that was decoded; 0: there was none
        self._event = self._address = 0  # first byte of the event being decoded, and the last address before it
        self._clear()

    def _clear(self) -> None:
        """The state before the first event."""
        self._decoded.clear()
        self.conditions: list[Condition] = []
        self.diverged = 0  # the site where the path was cut, or 0
        self.diverged_elsewhere: tuple[int, ...] = ()  # coverage indices that could not be asked for there
        self._operands = Operands()
        self._branches: list[_Branch] = []
        self._starts: list[int] = []  # of each branch event: its first byte
        self._firsts: list[int] = []  # and the number of conditions before it
        self._lanes, self.counted = hashes.START, 0  # conditions that the target counts, too
        for follower in self._followers:
            follower.cut(0)

    def register(self, follower: Follower) -> None:
        """From the next run on it follows the path."""
        self._followers.append(follower)

    # --- what others ask ---------------------------------------------------------------------------------------

    @property
    def data(self) -> bytes:
        """The run's input."""
        return self._decoded.data

    @property
    def events(self) -> bytes:
        return self._decoded.cursor.events

    @property
    def pins(self) -> Sequence[Pin]:
        return self._decoded.pins

    @property
    def objects(self) -> Sequence[SymbolicObject]:
        return self._decoded.objects

    @property
    def notes(self) -> Mapping[tuple[str, int], int]:
        """(what, site) → how often; they make a campaign's result incomplete."""
        return self._decoded.notes

    @property
    def disagreements(self) -> Sequence[Disagreement]:
        return self._decoded.disagreements

    @property
    def consumed(self) -> int:
        """Bytes of input that the run asked for, as far as its events say."""
        return self._decoded.consumed

    @property
    def operand_hash(self) -> int:
        return hashes.folded(self._operands.lanes)

    def condition_hash(self, count: int) -> int:
        """The condition hash over the first `count` conditions."""
        return self.conditions[count - 1].hash() if count else hashes.value(hashes.START)

    def shared(self, count: int) -> bytes:
        """The event bytes that a run repeats which goes the way of the first `count` conditions, as far as is sure."""
        if self._decoded.verify or not self.conditions:
            return b""  # stored values change with the input
        return self.events[: self.conditions[min(count, len(self.conditions) - 1)].start]

    # --- going back --------------------------------------------------------------------------------------------

    def follow(self, events: bytes, data: bytes, limit: int = 0, visit: Visitor | None = None) -> None:
        """Take over the run with input `data` that sent `events`.

        At most the first `limit` conditions are kept; `visit` gets all others. Raises TraceError if the events
        make no sense: then the trail is empty.
        """
        self.rewind(events, data, limit)
        self.extend(visit or _ignore)

    def rewind(self, events: bytes, data: bytes, limit: int) -> int:
        """Go back to the last branch event that this run shares; returns the number of conditions kept."""
        kept = -1 if self._decoded.verify else self._shared_branches(events, limit)
        if kept >= 0 and self._branches[kept].point.consumed > len(data):
            kept = -1
        changed = changed_bytes(self.data, data) if kept >= 0 else 0
        self._decoded.take_input(data)
        if changed:
            kept = self._still_true(kept, changed)
        if kept < 0:
            self._clear()
            self._decoded.take_input(data)
        else:
            self._return_to(kept)
        if changed:
            self._operands.recompute(changed, self._decoded.value)
        self._decoded.cursor.events = events
        return len(self.conditions)

    def _shared_branches(self, events: bytes, limit: int) -> int:
        """The last branch event that begins within the common bytes and `limit` conditions; -1 if there is none."""
        common = _common_length(self.events, events)
        return min(bisect_right(self._starts, common), bisect_right(self._firsts, limit)) - 1

    def _still_true(self, kept: int, changed: int) -> int:
        """How many of these branches also say the truth when these input bytes have changed."""
        holds = self._decoded.holds
        for index, pin in enumerate(self.pins[: self._branches[kept].point.pins]):
            if pin.value.deps & changed and not holds(pin.formula):
                kept = bisect_right([branch.point.pins for branch in self._branches], index) - 1
                break
        for branch in range(self._operands.first_reached(changed), kept):
            for condition in self.conditions[self._firsts[branch] : self._firsts[branch + 1]]:
                if condition.formula.deps & changed and not holds(condition.formula):
                    return branch
        return kept

    def _return_to(self, branch: int) -> None:
        """The state before a branch event."""
        self._decoded.return_to(self._branches[branch].point)
        _, self._lanes, self.counted = self._branches[branch]
        self._operands.cut(branch)
        kept = self._firsts[branch]
        del self.conditions[kept:]
        for follower in self._followers:
            follower.cut(kept)
        del self._branches[branch:]
        del self._starts[branch:]
        del self._firsts[branch:]
        self.diverged, self.diverged_elsewhere = 0, ()

    # --- going on ----------------------------------------------------------------------------------------------

    def extend(self, visit: Visitor) -> None:
        """Decode the rest of the stream. Raises TraceError if it makes no sense: then the trail is empty.

        What `visit` raises ends it: the trail is before the event of the condition that was visited.
        """
        self._visit = visit
        visited = len(self._branches)
        try:
            self._decode(len(self.events))
        except TraceError:
            raise
        except BaseException:
            if len(self._branches) > visited:
                self._return_to(len(self._branches) - 1)
            raise

    def site_at(self, events: bytes, data: bytes, offset: int) -> int:
        """The site whose event holds this byte of the stream of a run with input `data`."""
        self.rewind(b"", b"", 0)  # the byte may come before what the trail would keep
        self.rewind(events, data, 0)
        self._visit = _ignore
        return self._decode(offset + 1)

    def sound(self, events: bytes, data: bytes) -> int:
        """How many bytes of a stream that breaks off or was damaged are whole events that make sense, from its first on."""
        self.rewind(events, data, 0)
        self._visit = _ignore
        try:
            self._decode(len(events))
        except TraceError:
            return self._event
        return self._decoded.cursor.at

    def _decode(self, end: int) -> int:
        """All events that begin before byte `end`; returns the site of the last."""
        cursor, compiled = self._decoded.cursor, self._compiled
        head = 0
        try:
            while cursor.at < end and not self.diverged:
                self._event, self._address = cursor.at, cursor.address
                head = cursor.varint()
                step = compiled.get(head)
                if step is None:
                    step = compiled[head] = self._steps.compile(head)
                step()
        except NotMirrored as error:
            site = self.table[head >> 1]
            self._clear()
            raise TraceError(f"site {site.id} reads {error}, which was never symbolic", place(site)) from None
        except TraceError:
            self._clear()
            raise
        self.last_site = head >> 1
        return self.last_site

    def _on_branch(self, site: Site, operands: tuple[Expr, ...], outcomes: Sequence[Outcome]) -> bool:
        """Add its conditions; False if the path was cut."""
        decoded = self._decoded
        self._branches.append(_Branch(decoded.checkpoint(self._event, self._address), self._lanes, self.counted))
        self._starts.append(self._event)
        self._firsts.append(len(self.conditions))
        floats = site.template is not None and site.template.floats
        forked = 0
        for outcome in outcomes:
            if outcome.is_fork:
                forked |= outcome.formula.deps
        compared = 0
        for operand in operands:
            compared |= operand.deps
        compared = compared or decoded.forked & decoded.vanished  # what was assigned may be a constant already
        self._operands.add(operands, tuple(map(decoded.value, operands)), floats, forked)
        assumption = site.is_assumption
        found = site.kind in (SiteKind.SELECT, SiteKind.STORE) and not site.size
        for chain, direction, held, elsewhere, chosen, is_fork in outcomes:
            loose = found and chosen is None
            if held.floats and not self._says_numbers(site, held):
                self.diverged, self.diverged_elsewhere = site.id, elsewhere
                return False
            if not decoded.holds(held):
                self.diverged, self.diverged_elsewhere = site.id, elsewhere
                decoded.note(Note.DIVERGENCE, site.id)
                return False
            if held.origins:
                decoded.note(Note.OPAQUE_CONDITION, site.id)
            before = after = self._lanes
            counted = self.counted
            if not is_fork:
                self._lanes = after = mixed(before, site.id, chain, direction)
                self.counted += 1
            settled = not held.deps and not held.origins and compared != 0
            condition = Condition(
                site.id,
                chain,
                direction,
                held,
                assumption,
                before,
                after,
                elsewhere,
                chosen,
                is_fork,
                settled,
                decoded.forked,
                decoded.forked & compared != 0,
                counted,
                loose,
                self._event,
                len(decoded.pins),
            )
            self._visit(len(self.conditions), condition)
            self.conditions.append(condition)
            for follower in self._followers:
                follower.pass_by(condition)
            decoded.learn(held)
            if is_fork and chosen is not None:
                decoded.fork(chosen.address)
        return True

    def _says_numbers(self, site: Site, held: Expr) -> bool:
        """False if the condition looks at the pattern of what is no number, which differs among machines."""
        patterns = [expr for expr in pattern_uses(held) if may_be_nan(expr)]
        if not patterns:
            return True
        self._decoded.note(Note.FLOAT_PATTERN, site.id)
        if self._decoded.no_numbers(patterns):
            return False
        for pattern in patterns:
            self._decoded.pin_number(site.id, pattern)
        return True


def _ignore(index: int, condition: Condition) -> None:
    """For paths of which nothing is derived."""


def _common_length(a: bytes, b: bytes) -> int:
    """The number of bytes before the first difference."""
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while high - low > 1:  # a[:low] is equal, a[:high] is not
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low
