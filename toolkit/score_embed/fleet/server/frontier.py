"""The durable frontier: the pairs of a campaign that are known and not done. It alone says when a campaign is finished.

Everything else (the status table, who holds which pair) may be wrong for a while and costs time only. A test's children
become known in the transaction in which it becomes done, and a pair is done only after the pair it came from. So
whatever is committed when everybody dies, the frontier still leads to every path, and no pair is recorded twice.

Owners are kept in the record too, so that a server that starts again takes away from no client what it holds. When
nothing is left, `membership.py` says STOP to whoever belongs to the campaign.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from score_embed.fleet.messages import Pair, Peer, Result

_FORMER = 4  # clients that are remembered of each pair: who has been away for longer runs in vain


@dataclass(frozen=True, slots=True)
class Write:
    """What one transaction changes in a campaign. Pairs that are in `tests` are known and done from then on."""

    campaign: int
    tests: Sequence[Result]  # their children are in `known`, or in `tests` themselves
    known: Sequence[tuple[Pair, Peer | None]]  # with the owner
    moved: Sequence[tuple[bytes, Peer | None]]
    aside: Sequence[bytes] = ()  # pairs that too many clients have failed with: they are done, and lost
    again: Sequence[Result] = ()  # tests of pairs that were done before; their paths are to be compared
    ran: Mapping[bytes, Pair] = field(default_factory=dict)  # of `tests`: those that no earlier commit made known


@dataclass(frozen=True, slots=True)
class Commit:
    """An effect of the server: make this durable, all or nothing, then call `committed(number)`."""

    number: int
    epoch: int  # the highest so far
    writes: Sequence[Write]


@dataclass(frozen=True, slots=True)
class Opened:
    """A campaign as its record has it."""

    campaign: int
    image: bytes
    frontier: Mapping[bytes, Peer | None]  # id → owner
    limit: int | None = None  # tests to record at most, from now on
    repeats: bool = False  # pairs that were done are run again: what comes from them may be done, too


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that a starting server needs of the record."""

    epoch: int
    campaigns: Sequence[Opened]


class Reader(Protocol):
    """Reads committed pairs that are not done."""

    def __call__(self, campaign: int, ids: Sequence[bytes]) -> Sequence[Pair]: ...


class Past(Protocol):
    """Which of these pairs are done, as far as that is committed."""

    def __call__(self, campaign: int, ids: Sequence[bytes]) -> Container[bytes]: ...


class Frontier:
    """One campaign's frontier in memory, as it will be once the pending changes are committed."""

    def __init__(self, campaign: int, frontier: Mapping[bytes, Peer | None]) -> None:
        self.campaign = campaign
        self.tests = 0  # recorded since the server started
        self._owner: dict[bytes, Peer | None] = dict(frontier)
        self._held: dict[Peer, dict[bytes, None]] = {}
        self._former: dict[bytes, tuple[str, ...]] = {}  # clients that had a pair which is another's now, or brought it
        self._pool: dict[bytes, None] = {}  # nobody's, the first to come first
        for ident, owner in frontier.items():
            self._place(ident, owner)
        self._tests: dict[bytes, Result] = {}
        self._under_way: Collection[bytes] = ()  # those that are being committed, or were last
        self._aside: list[bytes] = []
        self._again: list[Result] = []
        self._ran: dict[bytes, Pair] = {}  # of those in `_tests`
        self._known: dict[bytes, Pair] = {}
        self._moved: dict[bytes, None] = {}

    def __len__(self) -> int:
        return len(self._owner)

    def __contains__(self, ident: bytes) -> bool:
        return ident in self._owner

    @property
    def pool(self) -> int:
        return len(self._pool)

    def has_just_done(self, ident: bytes) -> bool:
        """It is done, and that is not committed yet."""
        return ident in self._tests or ident in self._under_way

    def is_bare(self, ident: bytes) -> bool:
        """It came without its data, because its result was to come with it."""
        pair = self._known.get(ident)
        return pair is not None and not pair.data

    def owner(self, ident: bytes) -> Peer | None:
        return self._owner.get(ident)

    def owners(self) -> list[Peer]:
        return list(self._held)

    def may_finish(self, ident: bytes, client: str) -> bool:
        """Was this pair of the frontier ever given to that client? Nobody else can have run it."""
        owner = self._owner[ident]
        return (owner is not None and owner.client == client) or client in self._former.get(ident, ())

    def held(self, peer: Peer) -> int:
        return len(self._held.get(peer, ()))

    # Changes ------------------------------------------------------------------------------------------------

    def add(self, pair: Pair, owner: Peer | None, author: str = "") -> None:
        """A pair is known now. Its parent is not done, so it is not done either; if it is known, its owner stays.

        `author`: the client that found it, if it may have run it though it is not its owner.
        """
        if pair.id in self._owner:
            return
        self._owner[pair.id] = owner
        if owner is None and author:
            self._former[pair.id] = (author,)
        self._place(pair.id, owner)
        self._known[pair.id] = pair

    def done(self, result: Result) -> bool:
        """A pair is done now; False if it was before."""
        if result.id not in self._owner:
            self._again.append(result)
            return False
        self._forget(result.id, self._owner.pop(result.id))
        self._former.pop(result.id, None)
        pair = self._known.pop(result.id, None)
        if pair is not None and pair.data:
            self._ran[result.id] = pair
        self._moved.pop(result.id, None)
        self._tests[result.id] = result
        self.tests += result.tests
        return True

    def set_aside(self, ident: bytes) -> None:
        """Nobody is to run this pair any more. The record still gets to know it, to repeat it if somebody wants
        that."""
        self._forget(ident, self._owner.pop(ident))
        self._former.pop(ident, None)
        self._moved.pop(ident, None)
        self._aside.append(ident)

    def move(self, ident: bytes, owner: Peer | None) -> None:
        """A pair of the frontier has another owner now."""
        before = self._owner[ident]
        if before == owner:
            return
        self._forget(ident, before)
        if before is not None:
            self._former[ident] = (*self._former.get(ident, ()), before.client)[-_FORMER:]
        self._owner[ident] = owner
        self._place(ident, owner)
        if ident not in self._known:
            self._moved[ident] = None

    def free(self, peer: Peer, keep: Iterable[bytes] = ()) -> int:
        """Whatever is assigned to this client is nobody's now, but for `keep`; says how many that are."""
        kept = set(keep)
        freed = [ident for ident in self._held.get(peer, ()) if ident not in kept]
        for ident in freed:
            self.move(ident, None)
        return len(freed)

    def first_of_pool(self, count: int) -> list[bytes]:
        return [ident for ident, _ in zip(self._pool, range(count), strict=False)]

    # What is to be committed --------------------------------------------------------------------------------

    @property
    def changed(self) -> bool:
        """Something is to be committed."""
        return self.is_ahead or bool(self._again)

    @property
    def is_ahead(self) -> bool:
        """It is not the durable one. Tests that come once more change nothing: somebody may report them for ever."""
        return bool(self._tests or self._known or self._moved or self._aside)

    def take_changes(self) -> Write:
        """All changes since this was last called."""
        known = [(pair, self._owner[ident]) for ident, pair in self._known.items()]
        moved = [(ident, self._owner[ident]) for ident in self._moved]
        write = Write(self.campaign, tuple(self._tests.values()), known, moved, self._aside, self._again, self._ran)
        self._under_way = self._tests.keys()
        self._tests, self._known, self._moved, self._aside, self._again, self._ran = {}, {}, {}, [], [], {}
        return write

    # How ----------------------------------------------------------------------------------------------------

    def _place(self, ident: bytes, owner: Peer | None) -> None:
        if owner is None:
            self._pool[ident] = None
        else:
            self._held.setdefault(owner, {})[ident] = None

    def _forget(self, ident: bytes, owner: Peer | None) -> None:
        if owner is None:
            del self._pool[ident]
            return
        held = self._held[owner]
        del held[ident]
        if not held:
            del self._held[owner]


class Commits:
    """One at a time, each with all that has come meanwhile. What waits for a commit is done after it."""

    def __init__(self, epoch: int) -> None:
        self._epoch = epoch
        self._numbers = itertools.count(1)
        self._under_way: int | None = None
        self._waiting: list[Callable[[], None]] = []  # for the next commit …
        self._after: list[Callable[[], None]] = []  # … and for the one under way

    def then(self, action: Callable[[], None]) -> None:
        """Do this as soon as all that has changed until now is durable."""
        self._waiting.append(action)

    def begin(self, frontiers: Iterable[Frontier], always: bool = False) -> Commit | None:
        """The next commit, if none is under way and something has changed; without changes, nothing need wait."""
        if self._under_way is not None:
            return None
        writes = [frontier.take_changes() for frontier in frontiers if frontier.changed]
        if writes or always:
            self._under_way = next(self._numbers)
            self._after, self._waiting = self._waiting, []
            return Commit(self._under_way, self._epoch, writes)
        self._act(self._waiting)
        return None

    def end(self, number: int) -> None:
        """The commit of that number is durable."""
        assert number == self._under_way
        self._under_way = None
        self._act(self._after)

    @staticmethod
    def _act(actions: list[Callable[[], None]]) -> None:
        due = list(actions)
        actions.clear()
        for action in due:
            action()
