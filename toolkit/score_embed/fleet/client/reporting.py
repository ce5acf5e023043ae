"""A client's results on their way into the record: batches, one at a time, in order, until each is acknowledged.

In order, so that a pair never becomes done before the pair it came from. A pair that the server does not know yet is
*fresh*: it is not given to others, so whatever a client receives is in the record, with its owner.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass

import msgspec

from score_embed.fleet.client.conversation import ClientTimer, Conversation
from score_embed.fleet.client.queue import Queue
from score_embed.fleet.messages import MAX_PAIRS, Alive, Pair, Result, Results, Stored
from score_embed.fleet.protocol import Timing

ROOM = MAX_PAIRS - 1, 1 << 20  # with so many children, or bytes of them, a test leaves a pair for the rest
_OVERHEAD = 32  # bytes of a pair or a result besides its data, about


@dataclass(frozen=True, slots=True)
class Batch:
    number: int
    results: tuple[Result, ...]  # without the data of pairs that are done in the same batch


class Batches:
    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._waiting: deque[Result] = deque()
        self._bytes = 0  # of those
        self._numbers = 0
        self._void: set[bytes] = set()  # pairs below tests that are another's; for look-ups only
        self._fresh: set[bytes] = set()  # for look-ups only: its order cannot be relied on
        self.batch: Batch | None = None  # on the way
        self.whole = False  # batches keep the data of pairs that are done in them

    def add(self, result: Result) -> bool:
        """`room` says how many children it may have; a test that would have more leaves a pair for the rest.

        False: nothing came of it, since it was found below a test that is another's.
        """
        assert len(result.children) <= MAX_PAIRS
        if result.id in self._void:
            self._void.update(child.id for child in result.children)
            return False
        self._waiting.append(result)
        self._bytes += _size(result)
        self._fresh.update(child.id for child in result.children)
        return True

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

    @property
    def overfull(self) -> bool:
        """So much waits that no more tests should be run: the server is away for long, or too slow for all of us."""
        return self._bytes >= self._timing.backlog_bytes

    def next(self) -> Batch:
        """Put the next batch on the way. To be asked for if something waits and nothing is on the way."""
        assert self.batch is None
        self._numbers += 1
        results = list(self._take())
        done = set() if self.whole else {result.id for result in results}
        self.batch = Batch(self._numbers, tuple(_slim(result, done) for result in results))
        return self.batch

    def stored(self, number: int, refused: Container[bytes] = ()) -> bool:
        """The batch of that number is acknowledged; False if that is old news. `refused`: tests that are another's."""
        batch = self.batch
        if batch is None or batch.number != number:
            return False
        for result in batch.results:
            self._fresh.difference_update(child.id for child in result.children)
            if result.id in refused:
                self._void.update(child.id for child in result.children)
        self.batch = None
        if self._void:
            waiting, self._waiting, self._bytes = self._waiting, deque(), 0
            for result in waiting:
                self._fresh.difference_update(child.id for child in result.children)
                self.add(result)
        return True

    def own(self, idents: Iterable[bytes]) -> None:
        """These are ours now, whoever found them."""
        self._void.difference_update(idents)

    def is_void(self, ident: bytes) -> bool:
        """It was found below a test that is another's."""
        return ident in self._void

    def _take(self) -> Iterator[Result]:
        """As many results as fit."""
        taken = size = 0
        while self._waiting and taken < self._timing.batch_tests:
            first = self._waiting[0]
            if taken and size + _size(first) > self._timing.batch_bytes:
                break
            self._waiting.popleft()
            taken, size = taken + 1, size + _size(first)
            self._bytes -= _size(first)
            yield first


class Reporting:
    """What is said about them."""

    def __init__(self, conversation: Conversation, queue: Queue) -> None:
        self._conversation, self._queue = conversation, queue
        self.batches = Batches(conversation.timing)

    def forget(self) -> None:
        """Report nothing more: it is of a campaign that is over here."""
        self.batches = Batches(self._conversation.timing)

    def wait_for_more(self) -> None:
        """Send what waits after a while, though it is not a batch yet."""
        if self.batches.waits:
            conversation = self._conversation
            conversation.timers.start(ClientTimer.FLUSH, conversation.now + conversation.timing.batch_seconds)

    def send_next(self) -> None:
        """Send what waits, unless a batch is on the way."""
        if self.batches.batch is None and self.batches.waits:
            self.batches.next()
            self._conversation.timers.clear(ClientTimer.FLUSH)
            self.send_again()

    def send_again(self) -> None:
        """Send the batch on the way, if there is one."""
        batch, conversation = self.batches.batch, self._conversation
        if batch is None:
            return
        conversation.say(
            Results(
                conversation.peer,
                conversation.epoch,
                conversation.campaign,
                batch.number,
                len(self._queue),
                batch.results,
            )
        )
        conversation.repeat(ClientTimer.BATCH)

    def drop_batch(self, message: Stored) -> None:
        if not self.batches.stored(message.batch, message.refused):
            return
        if message.refused:
            self._queue.drop([pair.id for pair in self._queue if self.batches.is_void(pair.id)])
        self._conversation.timers.clear(ClientTimer.BATCH)
        self._queue.drop(message.drop)
        self.wait_for_more()

    def say_alive(self) -> None:
        self._conversation.say(Alive(self._conversation.peer, self._conversation.epoch, len(self._queue)))


def _slim(result: Result, done: set[bytes]) -> Result:
    """Most pairs are run soon after they were found, so the record need not have their data."""
    children = tuple(Pair(child.id, child.depth, b"") if child.id in done else child for child in result.children)
    return msgspec.structs.replace(result, children=children)


def _size(result: Result) -> int:
    return _OVERHEAD + len(result.payload) + sum(_OVERHEAD + len(child.data) for child in result.children)
