"""Clients of the simulated fleet that lie: each has a key of its own, knows the program, and says what no client
should.

A liar works as any other client, now and then, since who does nothing gets no pairs. At each step it may say something
else besides, to the server or to other clients, or keep to itself what it should say.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Container, Sequence
from typing import Any

from score_embed.fleet.client.client import Client
from score_embed.fleet.messages import (
    SERVER,
    VERSION,
    Ack,
    Alive,
    Ask,
    Bye,
    Empty,
    Gone,
    Hello,
    Leave,
    Nack,
    Noted,
    Pair,
    Pairs,
    Peer,
    Refused,
    Rejoin,
    Result,
    Results,
    Settled,
    Stop,
    Stored,
    Welcome,
)
from score_embed.fleet.protocol import Run, Send
from score_embed.fleet.simulation.trees import Explorable, pairs, seed_of
from score_embed.fleet.tickets import marks

MOST = 2**63 - 1
KINDS = (
    "finishes",
    "steals",
    "cheats",
    "refuses",
    "impersonates",
    "forges",
    "exaggerates",
    "is silent",
    "drops",
    "revives",
    "reports nothing",
)
_SHARE = 0.2  # of its steps at which it lies
_PAUSE = 0.05  # seconds between two lies


class Liar(Client):
    """`kind`: of `KINDS`. `clients`: how many there are to be lied about; `had`: pairs that were its own in any life;
    `done`: those that are done; `given`: has the server given this pair to that client, which may not know it yet?"""

    def __init__(
        self,
        kind: str,
        trees: Sequence[Explorable],
        clients: int,
        seed: int,
        had: set[bytes],
        done: Callable[[], Container[bytes]],
        given: Callable[[str, bytes], bool],
        peer: Peer,
        *rest: Any,
    ) -> None:
        super().__init__(peer, *rest)
        self.kind, self.lies = kind, 0
        self._rng = random.Random(f"{seed} {peer}")
        self._all = [pair for tree in trees for pair, _ in zip(pairs(tree), range(200), strict=False)]
        self._clients, self._trees = clients, trees
        self._done, self._given = done, given
        self._had = had  # of those nobody can tell what it has seen
        self._quiet = 0.0  # until then it says nothing more

    def is_done(self, ident: bytes) -> bool:
        return ident in self._done()

    def receive(self, message: Any, *rest: Any) -> Any:
        if isinstance(message, Pairs):
            self._had.update(pair.id for pair in message.pairs)
        return self._and_lie(super().receive(message, *rest))

    def ran(self, results: Sequence[Result], now: float) -> Any:
        (result,) = results
        self._had.update(child.id for child in result.children)
        if self.kind == "revives" and now >= self._quiet:  # it has found what was done long ago, it says
            seed = self._trees[self.campaign - 1].seed
            known = {child.id for child in result.children} | {result.id}
            others = tuple(
                pair
                for pair in self._some()
                if pair.id not in known and seed_of(pair) == seed and self.is_done(pair.id)
            )
            result = Result(result.id, result.payload, (*result.children, *others))
            self._quiet = now + 1.0
        return self._and_lie(super().ran((result,), now))

    def tick(self, *arguments: Any) -> Any:
        return self._and_lie(super().tick(*arguments))

    def _and_lie(self, effects: list[Any]) -> list[Any]:
        if self.kind == "is silent":
            return [effect for effect in effects if not isinstance(effect, Run)]
        if self.kind == "reports nothing":
            return [e for e in effects if not (isinstance(e, Send) and isinstance(e.message, Results))]
        if self.kind == "revives":
            return effects
        if self.kind == "cheats":
            return [self._cheated(effect) for effect in effects]
        if self._rng.random() < _SHARE and self._conversation.now >= self._quiet:
            self.lies += 1
            self._quiet = self._conversation.now + _PAUSE
            lie: dict[str, Callable[[], list[Any]]] = {
                "finishes": self._finish,
                "steals": self._steal,
                "refuses": self._refuse,
                "impersonates": self._impersonate,
                "forges": self._forge,
                "exaggerates": self._exaggerate,
                "drops": self._drop,
            }
            effects = effects + lie[self.kind]()
        return effects

    def _other(self) -> Peer:
        return Peer(
            f"c{self._rng.randrange(self._clients)}",
            self._rng.choice((0, 1, 2, int(1000 * self._conversation.now), MOST)),
        )

    def _some(self) -> tuple[Pair, ...]:
        return tuple(self._rng.sample(self._all, min(len(self._all), self._rng.randrange(1, 6))))

    def _to_server(self, kind: Any, *fields: Any, peer: Peer | None = None) -> Send:
        return Send(kind(peer or self.peer, self._conversation.epoch, *fields))

    def _number(self) -> int:
        """Of some REQ that the server may have made."""
        return self._conversation.epoch << 32 | self._rng.randrange(1, 40)

    # Lies ---------------------------------------------------------------------------------------------------------

    def _finish(self) -> list[Any]:
        """Pairs that others hold are done, and nothing came of them."""
        name = self.peer.client
        others = [pair for pair in self._some() if pair.id not in self._had and not self._given(name, pair.id)]
        results = tuple(Result(pair.id, b"", ()) for pair in others)
        return [self._to_server(Results, self.campaign or 1, self._rng.randrange(1, 99), 0, results)]

    def _steal(self) -> list[Any]:
        """They have given me these."""
        some = self._some()
        about = tuple(pair.id for pair in some), marks(some)
        giver = self._rng.choice((SERVER, self._other()))
        return [self._to_server(Ack, self._number(), giver, self._rng.randrange(50), *about), *self._finish()]

    def _cheated(self, effect: Any) -> Any:
        """What it gives away has nothing below it any more."""
        if not isinstance(effect, Send) or not isinstance(effect.message, Pairs):
            return effect
        self.lies += 1
        message = effect.message
        poorer = tuple(Pair(pair.id, pair.depth, (1).to_bytes(8, "big") + pair.data[8:]) for pair in message.pairs)
        poor = Pairs(message.to, message.req, message.campaign, message.giver, poorer, message.ticket)
        return Send(poor, effect.to, effect.address, effect.key)

    def _refuse(self) -> list[Any]:
        """In the name of all who were asked; and what they gave was lost."""
        others = tuple({self._other() for _ in range(4)})
        asks = [self._to_server(Ask, self._number(), other, self._some()[0].id) for other in others]
        return [self._to_server(Nack, self._number(), others), *asks]

    def _impersonate(self) -> list[Any]:
        """Somebody else leaves, has nothing, starts anew, or has done its work."""
        other = self._other()
        if other.client == self.peer.client:
            return []
        results = tuple(Result(pair.id, b"", ()) for pair in self._some())
        return [
            self._to_server(Bye, peer=other),
            self._to_server(Empty, MOST, peer=other),
            self._to_server(Hello, VERSION, "tcp://c1:1", "", 1, b"", peer=Peer(other.client, MOST)),
            self._to_server(Results, 1, 1, 0, results, peer=other),
            Send(Pairs(self._other(), self._number(), 1, other, self._some())),
        ]

    def _forge(self) -> list[Any]:
        """To other clients, as if from the server, or with a ticket of its own making."""
        other, epoch = self._other(), self._rng.choice((self._conversation.epoch, MOST))
        some = self._some()
        forged: list[Any] = [
            Welcome(other, epoch, 1, b"", False, bytes(32)), Refused(other, "go", "away"), Rejoin(other, epoch, True),
            Leave(other, False), Gone(other), Stop(other, 1, False), Stored(other, self._rng.randrange(9), (some[0].id,)),
            Noted(other, self._number(), tuple(pair.id for pair in some)), Settled(other, self._number(), self._other(), True),
            Pairs(other, self._number(), 1, self.peer, some), Pairs(other, self._number(), 1, SERVER, some, bytes(16)),
        ]  # fmt: skip
        return [Send(message, other, f"tcp://{other.client}:1") for message in forged]

    def _exaggerate(self) -> list[Any]:
        """Numbers that nobody can reach, and names and lives without end."""
        own = Peer(f"{self.peer.client}.{self._rng.randrange(10**6)}", MOST)
        return [
            Send(Alive(self.peer, self._rng.choice((0, MOST)), MOST)),
            Send(Empty(self.peer, MOST, MOST)),
            Send(Results(self.peer, MOST, MOST % 2**31, MOST, MOST, ())),
            Send(Ack(self.peer, self._conversation.epoch, MOST, SERVER, MOST, (bytes(16),), bytes(8))),
            Send(Nack(self.peer, MOST, MOST, (own,))),
            Send(
                Hello(
                    Peer(self.peer.client, self.peer.incarnation + self._rng.randrange(9)),
                    MOST,
                    VERSION,
                    "",
                    "",
                    0,
                    b"",
                )
            ),
        ]

    def _drop(self) -> list[Any]:
        """I hold nothing; I am alive."""
        return [self._to_server(Empty, self._rng.randrange(100)), self._to_server(Alive, 0)]
