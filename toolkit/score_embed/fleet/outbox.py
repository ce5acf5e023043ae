"""A client's results on their way into the record: batches, one at a time, in order, until each is acknowledged.

In order, so that a pair never becomes done before the pair it came from. A pair that the server does not know yet is
*fresh*: it is not given to others, so whatever a client receives is in the record, with its owner.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from score_embed.fleet.messages import MAX_PAIRS, Pair, Result
from score_embed.fleet.protocol import Timing

_OVERHEAD = 32  # bytes of a pair or a result besides its data, about


@dataclass(frozen=True, slots=True)
class Ahead:
    """Children that go ahead of their test, because all do not fit in a message."""

    parent: bytes
    pairs: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class Batch:
    number: int
    content: Ahead | tuple[Result, ...]


class Outbox:
    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._waiting: deque[Result | Ahead] = deque()
        self._bytes = 0  # of those
        self._numbers = 0
        self._fresh: set[bytes] = set()  # for look-ups only: its order cannot be relied on
        self._early: dict[bytes, list[bytes]] = {}  # parent → children that went ahead
        self.batch: Batch | None = None  # on the way

    def add(self, result: Result) -> None:
        self._bytes += _size(result)
        self._fresh.update(child.id for child in result.children)
        *ahead, rest = _portions(result.children, self._timing.batch_bytes)
        if ahead:
            self._waiting.extend(Ahead(result.id, pairs) for pairs in ahead)
            self._early[result.id] = [pair.id for pairs in ahead for pair in pairs]
            result = Result(result.id, result.path, result.record, rest)
        self._waiting.append(result)

    def is_fresh(self, ident: bytes) -> bool:
        return ident in self._fresh

    @property
    def has_fresh(self) -> bool:
        return bool(self._fresh)

    @property
    def waits(self) -> bool:
        """There are results that are not on the way."""
        return bool(self._waiting)

    @property
    def clear(self) -> bool:
        """All results are acknowledged."""
        return self.batch is None and not self._waiting

    @property
    def full(self) -> bool:
        """What waits is at least a batch."""
        return len(self._waiting) >= self._timing.batch_tests or self._bytes >= self._timing.batch_bytes

    def next(self) -> Batch:
        """Put the next batch on the way. To be asked for if something waits and nothing is on the way."""
        assert self.batch is None
        self._numbers += 1
        first = self._waiting[0]
        if isinstance(first, Ahead):
            self._waiting.popleft()
            self.batch = Batch(self._numbers, first)
        else:
            self.batch = Batch(self._numbers, tuple(self._take()))
        return self.batch

    def stored(self, number: int) -> bool:
        """The batch of that number is acknowledged; False if that is old news."""
        batch = self.batch
        if batch is None or batch.number != number:
            return False
        if not isinstance(batch.content, Ahead):
            for result in batch.content:
                self._fresh.difference_update(child.id for child in result.children)
                self._fresh.difference_update(self._early.pop(result.id, ()))
        self.batch = None
        return True

    def _take(self) -> Iterator[Result]:
        """As many results as fit."""
        taken = size = 0
        while self._waiting and taken < self._timing.batch_tests:
            first = self._waiting[0]
            if isinstance(first, Ahead) or (taken and size + _size(first) > self._timing.batch_bytes):
                break
            self._waiting.popleft()
            taken, size = taken + 1, size + _size(first)
            self._bytes -= _size(first)
            yield first


def slim(results: Sequence[Result]) -> tuple[Result, ...]:
    """Without the data of pairs that are done in the same batch: most are run soon after they were found."""
    done = {result.id for result in results}
    return tuple(
        Result(result.id, result.path, result.record, tuple(_slim(result.children, done))) for result in results
    )


def _slim(children: Iterable[Pair], done: set[bytes]) -> Iterator[Pair]:
    for child in children:
        yield Pair(child.id, child.depth, b"") if child.id in done else child


def _portions(children: tuple[Pair, ...], limit: int) -> list[tuple[Pair, ...]]:
    """The children in portions that fit in a message; at least one, though it be empty."""
    portions: list[tuple[Pair, ...]] = []
    portion: list[Pair] = []
    size = 0
    for child in children:
        if portion and (size + _OVERHEAD + len(child.data) > limit or len(portion) == MAX_PAIRS):
            portions.append(tuple(portion))
            portion, size = [], 0
        portion.append(child)
        size += _OVERHEAD + len(child.data)
    return [*portions, tuple(portion)]


def _size(result: Result) -> int:
    return _OVERHEAD + len(result.record) + sum(_OVERHEAD + len(child.data) for child in result.children)
