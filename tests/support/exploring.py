"""Explorations for tests: an explorer with its work list, and no target."""

from __future__ import annotations

from collections.abc import Sequence

from score_embed.contract.outcome import Finished
from score_embed.contract.sites import SiteTable
from score_embed.explore.bounds import Bounds
from score_embed.explore.concolic import Explorer
from score_embed.explore.pair import Pair
from score_embed.explore.queue import Queue
from score_embed.explore.search import Ranked, Search
from score_embed.explore.strategy import DepthFirst
from score_embed.solve.chain import Chain, default_chain
from score_embed.trace.trail import Trail


def search(
    table: SiteTable,
    first: bytes,
    chain: Chain | None = None,
    bounds: Bounds | None = None,
    trail: Trail | None = None,
) -> Search:
    """Depth first, every answer validated."""
    explorer = Explorer(trail or Trail(table), chain or default_chain(validate=True), bounds)
    return Search(explorer, Queue(DepthFirst()), [first])


def next_pair(made: Search) -> Pair:
    """The pair to run now: there is one."""
    pair = made.next()
    assert pair is not None
    return pair


def record(made: Search, pair: Pair, finished: Finished, data: bytes) -> Ranked:
    """What a finished run of `pair` with input `data` brings; it waits."""
    return made.add(made.explorer.derive(pair, finished, data))


def answered(made: Search, children: Sequence[Pair]) -> tuple[Pair, ...]:
    """Those that can be run, when all pending flips among them have been asked."""
    found: list[Pair] = []
    for child in children:
        if child.pending:
            brought = made.explorer.ask(child)
            assert brought is not None
            found += answered(made, brought.children)
        else:
            found.append(child)
    return tuple(found)
