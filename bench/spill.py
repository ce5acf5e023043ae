"""Memory and time of a queue whose waiting pairs do not fit: kept in memory, or left to the record.

    .venv/bin/python bench/spill.py [waiting pairs]

Pairs with 82 bytes of input; three become known for each that is taken, then all are taken.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from score_embed.engine._core import Origin
from score_embed.explore.pair import Pair
from score_embed.explore.queue import Queue
from score_embed.explore.strategy import STRATEGIES
from score_embed.results.store import Store


def fill_and_drain(strategy: str, spills: bool, wanted: int) -> str:
    root, known, done = Origin(), 0, 0
    with tempfile.TemporaryDirectory() as work, Store.create(Path(work)) as record:
        queue = Queue(STRATEGIES[strategy](1, set()), record.waiting if spills else None)
        began = time.perf_counter()
        while len(queue) < wanted:
            pairs = []
            for flip in range(3):
                known += 1
                depth = 1 + (known * 7 + flip) % 80
                pairs.append(
                    Pair(
                        known.to_bytes(16),
                        bytes(82),
                        depth,
                        depth,
                        depth,
                        known,
                        7,
                        range(3, 4),
                        origin=Origin(root, flip),
                    )
                )
            record.waiting.add(pairs, queue.add(pairs))
            done += take(queue, record)
        middle = time.perf_counter()
        while take(queue, record):
            done += 1
        end = time.perf_counter()
    assert done == known
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    grown, drained = (middle - began) / known * 1e6, (end - middle) / wanted * 1e6
    where = "record" if spills else "memory"
    return f"{strategy:9} {where:7} {size:8.0f} MB {grown:8.1f} us a new pair {drained:8.1f} us a pair drained"


def take(queue: Queue, record: Store) -> int:
    """Take one pair and mark it done; 0 if none is left."""
    pair = queue.take()
    if pair is None:
        return 0
    record.waiting.done(pair)
    if record.due():
        record.commit()
    return 1


def main() -> None:
    wanted = sys.argv[1] if len(sys.argv) > 1 else "600000"
    if len(sys.argv) == 4:
        print(fill_and_drain(sys.argv[2], sys.argv[3] == "record", int(wanted)))
        return
    for strategy in STRATEGIES:
        for where in ("memory", "record"):
            subprocess.run([sys.executable, __file__, wanted, strategy, where], check=True, timeout=1800)


if __name__ == "__main__":
    main()
