"""The simulator's trees and figures; and that sharing stays as good as docs/design/fleet.md says."""

from __future__ import annotations

import pytest

from score_embed.fleet.simulation.faults import Crash, Faults
from score_embed.fleet.simulation.rehearsal import figures
from score_embed.fleet.simulation.simulate import Costs, World
from score_embed.fleet.simulation.trees import SHAPES, Tree, pairs, seed_of


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("tests", [1, 2, 3, 17, 1000])
def test_a_tree_has_as_many_pairs_as_it_says(shape: str, tests: int) -> None:
    tree = Tree(shape, tests, seed=5, padding=10)
    found = list(pairs(tree))
    assert len(found) == len({pair.id for pair in found}) == tests
    assert {seed_of(pair) for pair in found} == {5}
    assert all(child.depth > pair.depth for pair in found for child in tree.run(pair).children)
    assert tree.run(found[-1]) == tree.run(found[-1])


def test_figures_of_a_single_client() -> None:
    world = World([Tree("balanced", 100, 1)], 1, Costs(test=1.0))
    world.run(1e6)
    found = figures(world)
    assert (found.tests, found.workload, found.quartiles) == (100, [100], (100, 100, 100))
    assert 0.98 < found.useful_time < 1
    assert found.useful_time == pytest.approx(1 - found.waiting)
    assert found.redundant == found.messages.get("Relayed", 0) == 0
    assert found.per_client == 3  # EMPTY, ACK, STOP


def test_a_client_that_dies_costs_what_it_had_not_reported() -> None:
    faults = Faults(end=6.0, crashes=(Crash(5.0, 1, None),))
    world = World([Tree("balanced", 600, 1)], 4, Costs(test=0.1), faults=faults)
    world.run(1e6)
    world.verify()
    found = figures(world)
    assert 0 < found.redundancy < 0.1
    assert found.tests == 600
    assert found.useful_time < 0.8  # three did the rest, one of them after the dead one was given up


def test_goals() -> None:
    """For 20 s of a program without end: nearly all the time is spent on tests, with few messages."""
    world = World([Tree("uneven", 10**15, 1)], 64)
    world.run(20.0)
    found = figures(world)
    assert found.useful_time > 0.993
    assert found.waiting < 0.0065
    assert found.per_client < 6
    assert found.control < 12
    assert found.redundant == 0
    assert found.workload[0] > 0.9 * found.quartiles[1]
    assert found.workload[-1] < 1.1 * found.quartiles[1]
