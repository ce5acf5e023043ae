"""What a simulated fleet came to, in the measures of SCORE's paper: tests, messages, waiting, efficiency, redundancy."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, fields

from score_embed.fleet.simulate import Node, World

SCORES = ("Empty", "Req", "Ack", "Nack", "Stop")  # the messages of the published protocol
_RESULTS = ("Results", "Stored", "Alive")


@dataclass(frozen=True, slots=True)
class Figures:
    clients: int
    tests: int  # recorded
    seconds: float
    efficiency: float  # time spent on recorded tests, of all clients' time
    waiting: float  # time in which a client ran nothing, of the time it was there
    messages: float  # a client: EMPTY, REQ, ACK, NACK, STOP
    control: float  # a client: all but results and signs of life
    per_test: float  # all messages, a test
    hand_overs: int
    relayed: int
    redundant: float  # runs of pairs that were run before, of all runs
    least: int  # tests of the client that ran the fewest …
    median: float
    most: int  # … and the most


def figures(world: World) -> Figures:
    nodes, count = world.nodes, len(world.nodes)
    sent = world.messages
    ends = [node.ended if node.ended is not None else world.now for node in nodes]
    seconds = max(ends)
    busy = sum(_busy(node, end) for node, end in zip(nodes, ends, strict=True))
    there = sum(end - node.joined for node, end in zip(nodes, ends, strict=True))
    redundant = world.redundant / max(1, world.run_count)
    tests = sorted(node.tests for node in nodes)
    return Figures(
        clients=count,
        tests=world.journal.done,
        seconds=seconds,
        efficiency=busy * (1 - redundant) / (count * seconds),
        waiting=1 - busy / there,
        messages=sum(sent[kind] for kind in SCORES) / count,
        control=sum(number for kind, number in sent.items() if kind not in _RESULTS) / count,
        per_test=sum(sent.values()) / max(1, sum(tests)),
        hand_overs=sent["Pairs"],
        relayed=sent["Relayed"],
        redundant=redundant,
        least=tests[0],
        median=statistics.median(tests),
        most=tests[-1],
    )


def table(rows: Sequence[Figures]) -> str:
    """The figures as a Markdown table, a fleet a line."""
    names = [field.name for field in fields(Figures)]
    lines = [names, ["---"] * len(names)]
    lines += [[_text(name, getattr(row, name)) for name in names] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _busy(node: Node, end: float) -> float:
    return node.busy - max(0.0, node.free_at - end)


def _text(name: str, value: float) -> str:
    if name in ("waiting", "redundant"):
        return f"{100 * value:.2f} %"
    if isinstance(value, int):
        return str(value)
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"
