"""A client's conversation with its server: in whose name it speaks, about what, and what has to be said once more when.

All parts of a client speak here. Whatever they say or want done becomes an effect, which the client hands out.
"""

from __future__ import annotations

from enum import Enum, auto

from score_embed.fleet.messages import Peer, ToServer
from score_embed.fleet.protocol import End, Run, Send, Timing, Wake
from score_embed.fleet.timers import Timers

Effect = Send | Run | Wake | End


class ClientTimer(Enum):
    HELLO = auto()
    BYE = auto()
    EMPTY = auto()
    BATCH = auto()  # the batch on the way is to be sent once more
    FLUSH = auto()  # the next batch is to go although it is not full
    ACKS = auto()
    SHARES = auto()  # REQs were held for long, or gifts not taken
    ALIVE = auto()


class Conversation:
    """`peer`: the client in its present life."""

    def __init__(self, peer: Peer, timing: Timing) -> None:
        self.peer, self.timing = peer, timing
        self.epoch = 0  # of the server, as far as it is known
        self.campaign = 0  # that is worked on; 0: none yet
        self.secret = b""  # by which the server's tickets are known
        self.now = 0.0
        self.timers: Timers[ClientTimer] = Timers(timing.resend, timing.resend_most)
        self._effects: list[Effect] = []

    def say(self, message: ToServer) -> None:
        self._effects.append(Send(message))
        self.timers.set(ClientTimer.ALIVE, self.now + self.timing.status)

    def repeat(self, timer: ClientTimer) -> None:
        """What this timer is for was said, perhaps once more: if no answer comes it is due again."""
        self.timers.repeat(timer, self.now)

    def do(self, effect: Effect) -> None:
        self._effects.append(effect)

    def take_effects(self) -> list[Effect]:
        """All since this was last called, and when to be woken if that has changed."""
        wake = self.timers.wake()
        if wake is not None:
            self._effects.append(Wake(wake))
        effects, self._effects = self._effects, []
        return effects
