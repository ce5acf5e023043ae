"""Pairs from others: a client takes each hand-over once, and acknowledges it until the server has noted that.

Nothing of it is run before: whoever gave it may have given what is not its own, or not what the record has. What NOTED
leaves of a hand-over is the client's.
"""

from __future__ import annotations

from score_embed.fleet import tickets
from score_embed.fleet.client.conversation import ClientTimer, Conversation
from score_embed.fleet.client.queue import Queue
from score_embed.fleet.messages import Ack, Empty, Noted, Pair, Pairs
from score_embed.fleet.protocol import REMEMBERED


class Receiving:
    def __init__(self, conversation: Conversation, queue: Queue) -> None:
        self._conversation, self._queue = conversation, queue
        self._acks: dict[int, Ack] = {}  # not noted yet, by hand-over
        self._held: dict[int, tuple[Pair, ...]] = {}  # what was handed over, until that is noted
        self._taken: dict[int, Ack] = {}  # hand-overs received, the latest ones
        self._turn = 0  # how many that were

    @property
    def open(self) -> bool:
        """Something was taken of which the server may not know."""
        return bool(self._acks)

    def forget(self) -> None:
        """Acknowledge nothing more: it was another life that took it."""
        self._acks.clear()
        self._held.clear()

    def say_empty(self) -> None:
        conversation = self._conversation
        conversation.say(Empty(conversation.peer, conversation.epoch, self._turn))
        conversation.repeat(ClientTimer.EMPTY)

    def take(self, message: Pairs) -> None:
        """Take pairs over, once; a copy shows that our ACK is not known yet."""
        conversation = self._conversation
        conversation.timers.clear(ClientTimer.EMPTY)
        ack = self._taken.get(message.req)
        if ack is None:
            self._turn += 1
            ids = tuple(pair.id for pair in message.pairs)
            marks = tickets.marks(message.pairs)
            ack = Ack(conversation.peer, conversation.epoch, message.req, message.giver, self._turn, ids, marks)
            self._taken[message.req] = ack
            if len(self._taken) > REMEMBERED:
                del self._taken[next(iter(self._taken))]
            self._held[message.req] = message.pairs
        self._acks[message.req] = ack
        self._say_ack(ack)
        conversation.repeat(ClientTimer.ACKS)

    def repeat_acks(self) -> None:
        for ack in self._acks.values():
            self._say_ack(ack)
        if self._acks:
            self._conversation.repeat(ClientTimer.ACKS)

    def drop_ack(self, message: Noted) -> list[bytes]:
        """Returns the pairs that are ours from now on."""
        self._acks.pop(message.req, None)
        dropped = set(message.drop)
        ours = [pair for pair in self._held.pop(message.req, ()) if pair.id not in dropped]
        self._queue.add(ours)
        self._queue.drop(message.drop)
        if not self._acks:
            self._conversation.timers.clear(ClientTimer.ACKS)
        return [pair.id for pair in ours]

    def _say_ack(self, ack: Ack) -> None:
        conversation = self._conversation
        about = ack.req, ack.giver, self._turn, ack.ids, ack.marks
        conversation.say(Ack(conversation.peer, conversation.epoch, *about))
