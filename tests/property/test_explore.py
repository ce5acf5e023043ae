"""Algorithm 2 against the recursive Algorithm 1 and against trying every input, on random decision trees."""

from __future__ import annotations

import itertools

import pytest
from decision_tree import Branch, End, Program, Switch, Tree
from events import replay
from hypothesis import given, settings
from hypothesis import strategies as st

from score_embed.explore.concolic import Explorer
from score_embed.explore.pair import Pair, first_pair
from score_embed.explore.prf import prf
from score_embed.frontend.sites import Op
from score_embed.solve.build import negate
from score_embed.solve.chain import default_chain
from score_embed.solve.query import Result
from score_embed.solve.slicer import Slicer
from score_embed.target.base import Finished, Verdict
from score_embed.trace.trail import Trail

SIZE = 2
MASK = 7  # three bits of each byte matter, so that 64 inputs stand for all


def trees(depth: int = 5) -> st.SearchStrategy[Tree]:
    end = st.just(End())
    if depth == 0:
        return end
    below = st.deferred(lambda: trees(depth - 1))
    index = st.integers(0, SIZE - 1)
    branch = st.builds(
        Branch,
        op=st.sampled_from([Op.EQ, Op.NE, Op.ULT, Op.ULE]),
        left=index,
        right=st.integers(-2, SIZE - 1),
        constant=st.integers(0, MASK + 1),
        mask=st.just(MASK),
        no=below,
        yes=below,
        assumption=st.integers(0, 9).map(lambda n: n == 0),
    )
    switch = st.integers(1, 3).flatmap(
        lambda n: st.builds(
            Switch,
            left=index,
            mask=st.just(MASK),
            labels=st.lists(st.integers(0, MASK), min_size=n, max_size=n, unique=True).map(tuple),
            arms=st.lists(below, min_size=n + 1, max_size=n + 1).map(tuple),
        )
    )
    return st.one_of(branch, branch, switch) if depth > 3 else st.one_of(end, branch, switch)


def all_inputs(program: Program) -> set[int]:
    """Path hashes of every input that violates no assumption."""
    pairs = (first_pair(bytes(data)) for data in itertools.product(range(MASK + 1), repeat=SIZE))
    runs = [program.run(pair) for pair in pairs]
    return {run.path_hash for run in runs if run.verdict is not Verdict.ASSUMPTION}


def explore(program: Program, explorer: Explorer, limit: int = 10_000) -> list[Finished]:
    """Run what the explorer asks for, at most `limit` tests."""
    runs: list[Finished] = []
    while len(runs) < limit and (pair := explorer.next()) is not None:
        finished = program.run(pair)
        assert finished.events.startswith(explorer.expected(pair))
        outcome = explorer.record(pair, finished, pair.input)
        assert not outcome.mispredicted
        assert not outcome.redundant
        runs.append(finished)
    return runs


def algorithm_1(program: Program, data: bytes, neg_limit: int, seen: list[int]) -> None:
    """The paper's recursive depth-first search, written as it is printed."""
    pair = first_pair(data)
    finished = program.run(pair)
    if finished.verdict is not Verdict.ASSUMPTION:
        seen.append(finished.path_hash)
    conditions = replay(program.table, finished.events, data).conditions
    chain = default_chain()
    for j in reversed(range(neg_limit, len(conditions))):
        if not conditions[j].flippable:
            continue
        slicer = Slicer()
        for condition in conditions[:j]:
            slicer.add(condition.formula)
        answer = chain.solve(slicer.query(negate(conditions[j].formula), data))
        if answer.result is Result.SAT:
            algorithm_1(program, answer.apply(data), j + 1, seen)


@settings(deadline=None, max_examples=150)
@given(trees(), st.binary(min_size=SIZE, max_size=SIZE))
def test_same_paths_as_algorithm_1_and_brute_force_none_twice(tree: Tree, first: bytes) -> None:
    program = Program(tree, SIZE)
    explorer = Explorer(Trail(program.table), default_chain(validate=True), seed=1, first=first)
    runs = explore(program, explorer)
    hashes = [run.path_hash for run in runs if run.verdict is not Verdict.ASSUMPTION]
    assert len(hashes) == len(set(hashes))
    assert set(hashes) == all_inputs(program)
    reference: list[int] = []
    algorithm_1(program, first, 0, reference)
    assert sorted(hashes) == sorted(reference)
    assert explorer.stopped == "exhausted"


@settings(deadline=None, max_examples=50)
@given(trees(), st.integers(1, 20))
def test_a_resumed_exploration_ends_with_the_same_paths(tree: Tree, cut: int) -> None:
    program = Program(tree, SIZE)
    explorer = Explorer(Trail(program.table), default_chain(), seed=1, first=bytes(SIZE))
    before = explore(program, explorer, cut)
    paths = {run.path_hash for run in before if run.verdict is not Verdict.ASSUMPTION}
    stored = [pair.to_bytes() for pair in explorer.frontier()]
    restored = Explorer.restore(
        Trail(program.table), default_chain(), explorer.state(), map(Pair.from_bytes, stored), paths
    )
    assert restored.state() == explorer.state()
    after = {run.path_hash for run in explore(program, restored) if run.verdict is not Verdict.ASSUMPTION}
    assert not paths & after
    assert paths | after == all_inputs(program)


@pytest.mark.parametrize(("start", "end"), [(0, 200), (63, 65), (64, 128), (10, 10)])
def test_input_bytes_depend_on_seed_and_index_only(start: int, end: int) -> None:
    assert prf(7, start, end) == prf(7, 0, 300)[start:end]
    assert prf(7, 0, 64) != prf(8, 0, 64)
