"""Algorithm 2 against the recursive Algorithm 1 and against trying every input, on random decision trees."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

import pytest
from decision_tree import Branch, End, Program, Switch, Tree, Use
from events import replay
from exploring import record, search
from hypothesis import given, settings
from hypothesis import strategies as st

from score_embed.contract.outcome import Verdict
from score_embed.contract.sites import Op
from score_embed.engine._core import Slicer
from score_embed.explore.concolic import Explorer
from score_embed.explore.flips import Routes
from score_embed.explore.pair import ROOT, Pair, decided, first_pair
from score_embed.explore.prf import prf
from score_embed.explore.queue import MEMORY, Queue
from score_embed.explore.search import Ranked, Search
from score_embed.explore.strategy import STRATEGIES
from score_embed.formula.build import negate
from score_embed.solve.chain import Chain, DomainLayer, Gate
from score_embed.solve.enumerate import EnumerateLayer
from score_embed.solve.query import Limit, Result
from score_embed.solve.smt import SmtLayer
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


def trees_with_uses(depth: int = 4) -> st.SearchStrategy[Tree]:
    """Trees whose values are used as they are, here and there."""
    if depth == 0:
        return st.just(End())
    below = st.deferred(lambda: trees_with_uses(depth - 1))
    index, other = st.integers(0, SIZE - 1), st.integers(-1, SIZE - 1)
    arms = st.lists(below, min_size=1, max_size=3).map(tuple)
    use = st.builds(Use, left=index, right=other, mask=st.sampled_from([1, 3, 6, MASK]), arms=arms)
    branch = st.builds(
        Branch,
        op=st.sampled_from([Op.EQ, Op.NE, Op.ULT, Op.ULE]),
        left=index,
        right=st.integers(-2, SIZE - 1),
        constant=st.integers(0, MASK),
        mask=st.sampled_from([3, MASK]),
        no=below,
        yes=below,
        assumption=st.integers(0, 9).map(lambda n: n == 0),
    )
    switch = st.builds(
        Switch,
        left=index,
        mask=st.just(MASK),
        labels=st.lists(st.integers(0, MASK), min_size=2, max_size=2, unique=True).map(tuple),
        arms=st.lists(below, min_size=3, max_size=3).map(tuple),
    )
    return st.one_of(use, branch, switch) if depth > 2 else st.one_of(st.just(End()), use, use, branch, switch)


def all_inputs(program: Program) -> set[int]:
    """Path hashes of every input that violates no assumption."""
    pairs = (first_pair(bytes(data)) for data in itertools.product(range(MASK + 1), repeat=SIZE))
    runs = [program.run(pair) for pair in pairs]
    return {run.path_hash for run in runs if run.verdict is not Verdict.ASSUMPTION}


Taken = tuple[int, tuple[int, ...]]  # a path's hash, and the values that it used as they are


def all_taken(program: Program) -> set[Taken]:
    """What all inputs take that violate no assumption."""
    found = set()
    for data in itertools.product(range(MASK + 1), repeat=SIZE):
        finished = program.run(first_pair(bytes(data)))
        if finished.verdict is not Verdict.ASSUMPTION:
            found.add((finished.path_hash, program.values))
    return found


class Record:
    """What a campaign's store knows of pairs."""

    def __init__(self) -> None:
        self.pairs: dict[bytes, tuple[bytes, bytes]] = {}  # id → rank, serialised
        self.known: set[bytes] = set()
        self.fetched = 0

    def add(self, ranked: Iterable[tuple[bytes, Pair]]) -> None:
        for rank, pair in ranked:
            assert pair.id not in self.known, "derived twice"
            self.known.add(pair.id)
            self.pairs[pair.id] = rank, pair.to_bytes()

    def waiting(self) -> int:
        return len(self.pairs)

    def waiting_after(self, rank: bytes) -> Iterator[tuple[bytes, Pair]]:
        for found, data in sorted(row for row in self.pairs.values() if row[0] > rank):
            self.fetched += 1
            yield found, Pair.from_bytes(data)

    def unranked(self) -> Iterator[Pair]:
        return iter([Pair.from_bytes(data) for rank, data in self.pairs.values() if not rank])

    def rerank(self, pair: Pair, rank: bytes) -> None:
        self.pairs[pair.id] = rank, self.pairs[pair.id][1]


class Exploration:
    """An exploration with a record that it can be taken up from."""

    def __init__(
        self,
        program: Program,
        strategy: str,
        first: bytes,
        memory: int = MEMORY,
        waits: bool = False,
        routes: int = 1000,
    ) -> None:
        """`waits`: all flips wait until their turn comes; `routes`: conditions of paths that are remembered for
        them."""
        self._program, self._strategy, self._memory = program, strategy, memory
        self._waits, self._routes = waits, routes
        self.record, self.covered = Record(), set[int]()
        self.ids: list[bytes] = []  # of the pairs in the order in which they were run
        self.paths: list[int] = []  # those that violate no assumption, in order
        self.taken: list[Taken] = []
        self.again = 0  # runs that were made to ask
        self.search = self._fresh([first])
        self.record.add(self.search.waiting_in_memory())

    def _fresh(self, firsts: Sequence[bytes]) -> Search:
        queue = Queue(STRATEGIES[self._strategy](7, self.covered), self.record, self._memory)
        explorer = Explorer(Trail(self._program.table), waiting_chain() if self._waits else plain_chain())
        explorer._routes = Routes(self._routes)
        return Search(explorer, queue, firsts)

    @property
    def notes(self) -> Counter[tuple[str, int]]:
        return self.search.explorer.notes

    def run(self, limit: int = 10_000) -> Exploration:
        """Run what the search asks for, at most `limit` tests."""
        for _ in range(limit):
            pair = self.search.next()
            for flip, brought in self.search.answered:
                self._done(flip, brought)
            self.search.answered.clear()
            if pair is None:
                break
            self.step(pair)
        return self

    def step(self, pair: Pair) -> None:
        assert pair.id not in self.ids, "run twice"
        finished = self._program.run(pair)
        assert finished.events.startswith(self.search.explorer.expected(pair))
        brought = record(self.search, pair, finished, pair.input)
        assert not brought.outcome.mispredicted
        self._done(pair, brought)
        assert self.search.waiting == self.record.waiting()
        if pair.pending:
            self.again += 1
            return
        self.covered.update(finished.coverage)
        self.ids.append(pair.id)
        self.taken.append((finished.path_hash, self._program.values))
        if brought.outcome.is_path:
            assert finished.path_hash not in self.paths or self._program.values
            self.paths.append(finished.path_hash)

    def _done(self, pair: Pair, brought: Ranked) -> None:
        del self.record.pairs[pair.id]
        self.record.add(zip(brought.ranks, brought.outcome.children, strict=True))

    def resume(self, from_fleet: bool = False) -> None:
        """`from_fleet`: several clients were at work meanwhile, so no pair has a rank."""
        state = self.search.state()
        if from_fleet:
            self.record.pairs = {ident: (b"", data) for ident, (_, data) in self.record.pairs.items()}
        self.search = self._fresh([])
        self.search.restore(state)
        assert self.search.state() == state or from_fleet
        assert self.search.waiting == len(self.record.pairs)


def plain_chain() -> Chain:
    """Answers depend on the question only, not on earlier ones."""
    return Chain(DomainLayer(EnumerateLayer(SmtLayer())))


def waiting_chain() -> Chain:
    """The same answers, none of them at once."""
    gate = Gate(DomainLayer(EnumerateLayer(SmtLayer())))
    return Chain(gate, gate=gate, limit=Limit())


def algorithm_1(program: Program, data: bytes, neg_limit: int, ident: bytes, seen: list[tuple[bytes, int]]) -> None:
    """The paper's recursive depth-first search, written as it is printed. `seen`: ids and path hashes in order."""
    finished = program.run(first_pair(data))
    seen.append((ident, 0 if finished.verdict is Verdict.ASSUMPTION else finished.path_hash))
    conditions = replay(program.table, finished.events, data).conditions
    chain = plain_chain()
    ids = list(accumulate(conditions, decided, initial=ROOT))
    for j in reversed(range(neg_limit, len(conditions))):
        if not conditions[j].flippable:
            continue
        slicer = Slicer()
        for condition in conditions[:j]:
            slicer.add(condition.formula)
        answer = chain.solve(slicer.query(negate(conditions[j].formula), data))
        if answer.result is Result.SAT:
            child = decided(ids[j], conditions[j], flipped=True)
            algorithm_1(program, answer.apply(data), j + 1, child, seen)


firsts = st.binary(min_size=SIZE, max_size=SIZE)
TINY = 1500  # bytes: two pairs


@settings(deadline=None, max_examples=100)
@given(trees(), firsts)
def test_every_layer_tells_the_truth_on_trees(tree: Tree, first: bytes) -> None:
    program = Program(tree, SIZE)
    made = search(program.table, first)
    paths: list[int] = []
    while (pair := made.next()) is not None:
        finished = program.run(pair)
        record(made, pair, finished, pair.input)
        if finished.verdict is not Verdict.ASSUMPTION:
            paths.append(finished.path_hash)
    assert len(paths) == len(set(paths))
    assert set(paths) == all_inputs(program)
    assert not made.explorer.notes


@pytest.mark.parametrize(
    ("memory", "waits", "routes"),
    [(MEMORY, False, 0), (TINY, False, 0), (TINY, True, 1000), (MEMORY, True, 20)],
)
@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(deadline=None, max_examples=40)
@given(tree=trees(), first=firsts, stops=st.lists(st.integers(1, 10), max_size=3))
def test_same_flips_as_algorithm_1_none_twice(
    strategy: str, memory: int, waits: bool, routes: int, tree: Tree, first: bytes, stops: list[int]
) -> None:
    """SCORE's Theorems 1 to 3: the flips are those of Algorithm 1, in whatever order; no pair is run twice, no path is
    taken twice; and none is missing. Also with flips that wait, spilled pairs, forgotten paths, and resumes."""
    program = Program(tree, SIZE)
    reference: list[tuple[bytes, int]] = []
    algorithm_1(program, first, 0, ROOT, reference)
    made = Exploration(program, strategy, first, memory, waits, routes)
    for stop in stops:
        made.run(stop).resume()
    made.run()
    assert not made.notes
    assert len(made.ids) == len(set(made.ids))
    assert set(made.ids) == {ident for ident, _ in reference}
    assert len(made.paths) == len(set(made.paths))
    assert set(made.paths) == all_inputs(program)
    if strategy == "dfs":
        assert made.ids == [ident for ident, _ in reference]


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(deadline=None, max_examples=20)
@given(tree=trees(), first=firsts, stops=st.lists(st.integers(1, 10), min_size=1, max_size=3))
def test_going_on_alone_after_a_fleet_misses_nothing(strategy: str, tree: Tree, first: bytes, stops: list[int]) -> None:
    program = Program(tree, SIZE)
    made = Exploration(program, strategy, first, TINY)
    for stop in stops:
        made.run(stop).resume(from_fleet=True)
    made.run()
    assert set(made.paths) == all_inputs(program)
    assert len(made.ids) == len(set(made.ids))


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(deadline=None, max_examples=30)
@given(tree=trees(), first=firsts)
def test_spilling_changes_no_order(strategy: str, tree: Tree, first: bytes) -> None:
    program = Program(tree, SIZE)
    assert Exploration(program, strategy, first, TINY).run().ids == Exploration(program, strategy, first).run().ids


@pytest.mark.parametrize(
    ("memory", "waits", "routes"), [(MEMORY, False, 0), (TINY, False, 0), (TINY, True, 1000), (MEMORY, True, 20)]
)
@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(deadline=None, max_examples=15)
@given(tree=trees_with_uses(), first=firsts, stops=st.lists(st.integers(1, 10), max_size=3), from_fleet=st.booleans())
def test_forks_find_each_path_with_each_of_its_values_once(
    strategy: str,
    memory: int,
    waits: bool,
    routes: int,
    tree: Tree,
    first: bytes,
    stops: list[int],
    from_fleet: bool,
) -> None:
    program = Program(tree, SIZE)
    made = Exploration(program, strategy, first, memory, waits, routes)
    for stop in stops:
        made.run(stop).resume(from_fleet)
    made.run()
    assert not made.notes
    assert len(made.ids) == len(set(made.ids))
    assert len(made.taken) == len(set(made.taken))
    assert set(made.taken) >= all_taken(program)
    assert set(made.paths) == all_inputs(program)
    if not (stops or routes):
        again = Exploration(program, strategy, first, memory, waits, routes).run()
        assert again.ids == made.ids


@settings(deadline=None, max_examples=100)
@given(trees_with_uses(), firsts)
def test_every_layer_tells_the_truth_where_paths_fork(tree: Tree, first: bytes) -> None:
    program = Program(tree, SIZE)
    made = search(program.table, first)
    taken: list[Taken] = []
    while (pair := made.next()) is not None:
        assert not record(made, pair, program.run(pair), pair.input).outcome.mispredicted
        taken.append((program.run(pair).path_hash, program.values))
    assert len(taken) == len(set(taken))
    assert set(taken) >= all_taken(program)
    assert not made.explorer.notes


@pytest.mark.parametrize(("start", "end"), [(0, 200), (63, 65), (64, 128), (10, 10)])
def test_input_bytes_depend_on_seed_and_index_only(start: int, end: int) -> None:
    assert prf(7, start, end) == prf(7, 0, 300)[start:end]
    assert prf(7, 0, 64) != prf(8, 0, 64)
