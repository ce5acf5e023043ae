"""Recorded trees: their file, what they say of a campaign, and that the simulator explores all of one."""

from __future__ import annotations

import gzip
import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from score_embed import places
from score_embed.errors import UsageError
from score_embed.fleet.simulation.recorded import RecordedTree, Recording, two_digits
from score_embed.fleet.simulation.rehearsal import Plan, costs
from score_embed.fleet.simulation.simulate import Costs
from score_embed.fleet.simulation.trees import pairs

SMALL = Recording("p", "native", "dfs", True, [0, 1, 1, 3, 1], [0, 4, 9, 2, 7], [100, 200, 300, 50, 60])


def made_up(tests: int) -> Recording:
    rng = random.Random(tests)
    back = [rng.randint(1, place) if place else 0 for place in range(tests)]
    depth = [rng.randrange(80) if place else 0 for place in range(tests)]
    took = [two_digits(rng.lognormvariate(8, 1)) for _ in range(tests)]
    return Recording("p", "native", "dfs", True, back, depth, took)


def test_what_it_says() -> None:
    assert SMALL.tests == 5
    assert SMALL.mean == pytest.approx(142e-6)
    assert SMALL.longest == pytest.approx(600e-6)  # 100, 200, 300
    assert SMALL.width == pytest.approx(710 / 600)
    assert [two_digits(number) for number in (0.2, 7, 12, 149, 12_345)] == [1, 7, 12, 150, 12000]


def test_a_file_is_small_and_says_the_same() -> None:
    recording = made_up(5000)
    data = recording.to_bytes()
    assert len(data) < 5 * 5000  # nothing here is like anything else
    assert data == recording.to_bytes()
    assert Recording.from_bytes(data, "f") == recording


def spoilt(**changes: Any) -> bytes:
    plain = json.loads(gzip.decompress(SMALL.to_bytes()))
    return gzip.compress(json.dumps(plain | changes).encode(), mtime=0)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"text",
        SMALL.to_bytes()[:-9],
        gzip.compress(b"no json", mtime=0),
        gzip.compress(b"[1]", mtime=0),
        gzip.compress(b"{}", mtime=0),
        spoilt(v=2),
        spoilt(more=1),
        spoilt(program=3),
        spoilt(back=[]),
        spoilt(back=[], depth=[], microseconds=[]),
        spoilt(back=[0, 1, 1, 4, 1]),  # a parent before the first
        spoilt(back=[0, 1, 0, 1, 1]),  # a second first
        spoilt(back=[0, 1, 1, 3, True]),
        spoilt(depth=[0, 1, 1, 3, "x"]),
        spoilt(depth=[0, 1, 1, 3, -1]),
        spoilt(microseconds=[100, 200, 300, 50, 0]),
        spoilt(microseconds=3),
    ],
)
def test_a_damaged_file_is_refused(data: bytes) -> None:
    with pytest.raises(UsageError, match="recorded tree") as caught:
        Recording.from_bytes(data, "my.tree")
    assert caught.value.where == "my.tree"


def test_a_tree_is_explored_as_it_was_recorded() -> None:
    tree = RecordedTree(SMALL, seed=3)
    found = list(pairs(tree))
    assert len({pair.id for pair in found}) == 5
    assert [pair.depth for pair in tree.run(tree.first).children] == [2, 4]
    assert sum(tree.seconds(pair, 0.05) for pair in found) == pytest.approx(5 * 0.05)
    assert tree.seconds(tree.first, SMALL.mean) == pytest.approx(100e-6)
    assert {pair.id for pair in found}.isdisjoint(pair.id for pair in pairs(RecordedTree(SMALL, seed=4)))


def test_a_fleet_on_a_recorded_tree() -> None:
    recording = made_up(1500)
    one = Plan(recording=recording, costs=costs({}, recording)).run(1)
    assert one.tests == 1500
    assert one.clients[0].busy == pytest.approx(recording.mean * 1500)
    plan = Plan(recording=recording, costs=costs({"test": 0.05}, recording))
    found = plan.run(16)
    assert found == plan.run(16)
    assert (found.tests, found.redundant) == (1500, 0)
    assert 0.7 < found.useful_time < 1
    many = plan.run(256)
    assert 0.3 * recording.width < 256 * many.useful_time < recording.width
    assert Plan(recording=recording, costs=plan.costs, seed=1).run(16) != found


def test_faults_by_seed() -> None:
    """Many things go wrong, and all tests are run."""
    plan = Plan("uneven", each=50, costs=Costs(test=0.1), faults=6)
    found = plan.run(8)
    assert found.tests == 400
    assert found == plan.run(8)
    calm = replace(plan, faults=None).run(8)
    assert calm.redundant == 0
    assert calm.seconds < found.seconds


def test_clients_that_do_not_reach_each_other() -> None:
    assert not Plan(each=20).run(4).messages.get("Relayed", 0)
    assert Plan(each=20, direct=False).run(4).messages["Relayed"]


def test_shipped_trees() -> None:
    """They are what docs/experiments.md says."""
    page = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+ \| [^|]+) clients \|", page, re.MULTILINE))
    shipped = {path.stem: path for path in places.shipped("simulators").glob("*.tree")}
    assert len(shipped) >= 3
    for name, path in shipped.items():
        tree = Recording.from_bytes(path.read_bytes(), name)
        assert tree.complete
        assert rows[name] == f"{tree.tests:,} | {tree.width:.0f}"
