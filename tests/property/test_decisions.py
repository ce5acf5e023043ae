"""MC/DC against its definitions, over random decisions: all assignments are tried, and each is evaluated as C does."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from score_embed.contract.coverage import AND, NOT, OR, SKIPPED, TRUE, Condition, Decision, decision
from score_embed.results import mcdc
from score_embed.trace.vectors import Walk


@st.composite
def decisions(draw: st.DrawFn) -> Decision:
    """Of a few conditions, some of them constant."""
    postfix: list[int | str] = []
    count = 0

    def part(depth: int) -> None:
        nonlocal count
        kind = draw(st.sampled_from([AND, OR, NOT, "leaf"])) if depth and count < 4 else "leaf"
        if kind == "leaf":
            postfix.append(count)
            count += 1
        elif kind == NOT:
            part(depth - 1)
            postfix.append(NOT)
        else:
            part(depth - 1)
            part(depth - 1)
            postfix.append(kind)

    part(3)
    constants = st.sampled_from([None, None, None, False, True])
    return decision("f.c", 1, "f", postfix, [Condition(16 + n, f"c{n}", draw(constants)) for n in range(count)])


Tree: TypeAlias = "int | tuple[str, Tree] | tuple[str, Tree, Tree]"


def tree_of(one: Decision) -> Tree:
    stack: list[Tree] = []
    for word in one.postfix:
        if isinstance(word, int):
            stack.append(word)
        elif word == NOT:
            stack.append((word, stack.pop()))
        else:
            right, left = stack.pop(), stack.pop()
            stack.append((word, left, right))
    (tree,) = stack
    return tree


def evaluate(tree: Tree, values: Mapping[int, bool], seen: dict[int, bool]) -> bool:
    """As C does: what is skipped is not in `seen`."""
    if isinstance(tree, int):
        seen[tree] = values[tree]
        return values[tree]
    if tree[0] == NOT:
        return not evaluate(tree[1], values, seen)
    assert len(tree) == 3
    left = evaluate(tree[1], values, seen)
    return evaluate(tree[2], values, seen) if left == (tree[0] == AND) else left


def assignments(one: Decision, fixed: Mapping[int, bool] | None = None) -> Iterator[dict[int, bool]]:
    """All that constants allow."""
    known = {n: c.constant for n, c in enumerate(one.conditions) if c.constant is not None} | dict(fixed or {})
    choices = [[known[n]] if n in known else [False, True] for n in range(len(one.conditions))]
    for values in itertools.product(*choices):
        yield dict(enumerate(values))


def vector_of(one: Decision, values: Mapping[int, bool]) -> tuple[str, bool]:
    seen: dict[int, bool] = {}
    result = evaluate(tree_of(one), values, seen)
    return "".join("TF"[not seen[n]] if n in seen else SKIPPED for n in range(len(one.conditions))), result


def has_effect(one: Decision, vector: str, number: int) -> bool:
    """Some completion of the vector comes out otherwise if this condition is turned round."""
    evaluated = {n: letter == TRUE for n, letter in enumerate(vector) if letter != SKIPPED}
    free = Decision(
        one.file, one.line, one.function, one.postfix, tuple(Condition(c.site, c.text) for c in one.conditions)
    )
    for values in assignments(free, evaluated):
        turned = {**values, number: not values[number]}
        if evaluate(tree_of(one), values, {}) != evaluate(tree_of(one), turned, {}):
            return True
    return False


@settings(deadline=None)
@given(decisions())
def test_the_walk_takes_the_way_that_c_takes(one: Decision) -> None:
    walk = Walk(one)
    for values in assignments(one):
        after, evaluated = walk.start()
        while not isinstance(after, str):
            assert one.conditions[after].constant is None
            after = walk.step(after, values[after], evaluated)
        assert (walk.vector(evaluated), after == TRUE) == vector_of(one, values)


@settings(deadline=None)
@given(decisions())
def test_what_decides_is_what_could_turn_the_outcome(one: Decision) -> None:
    for values in assignments(one):
        vector, result = vector_of(one, values)
        assert mcdc.values(one, vector)[-1] is result
        evaluated = {n for n, letter in enumerate(vector) if letter != SKIPPED}
        wanted = {n for n in evaluated if one.conditions[n].constant is None and has_effect(one, vector, n)}
        assert mcdc.items(one, vector) == {(n, values[n]) for n in wanted}


@settings(deadline=None)
@given(decisions())
def test_what_is_possible_is_what_all_vectors_show(one: Decision) -> None:
    def shown_by(found: Iterator[dict[int, bool]]) -> set[mcdc.Item]:
        return set().union(*(mcdc.items(one, vector_of(one, values)[0]) for values in found))

    assert mcdc.possible(one) == shown_by(assignments(one))
    free = [n for n, c in enumerate(one.conditions) if c.constant is None]
    for fixed in ({n: v, m: w} for n in free for m in free for v in (False, True) for w in (False, True)):
        assert mcdc.possible(one, fixed) == shown_by(assignments(one, fixed))
    assert not mcdc.missing(one, [vector_of(one, values)[0] for values in assignments(one)])


@settings(deadline=None)
@given(decisions())
def test_a_pair_that_shows_a_condition_alone_shows_it_by_masking_too(one: Decision) -> None:
    vectors = {vector_of(one, values)[0] for values in assignments(one)}
    found = mcdc.shown(one, vectors)
    for number, (first, second) in found.unique.items():
        assert mcdc.values(one, first)[-1] != mcdc.values(one, second)[-1]
        assert {first[number], second[number]} == set("TF")
        others = [{a, b} for n, (a, b) in enumerate(zip(first, second, strict=True)) if n != number]
        assert set("TF") not in others
        assert {(number, False), (number, True)} <= found.masking


@given(st.dictionaries(st.integers(1, 8), st.frozensets(st.integers(0, 6)), max_size=7))
def test_no_fewer_tests_bring_all(brought: dict[int, frozenset[int]]) -> None:
    chosen, exact = mcdc.fewest(brought)
    wanted = frozenset().union(*brought.values())
    assert exact
    assert frozenset().union(*(brought[test] for test in chosen)) == wanted
    for size in range(len(chosen)):
        for fewer in itertools.combinations(brought, size):
            assert frozenset().union(*(brought[test] for test in fewer)) != wanted


def test_a_search_that_is_cut_off_says_so() -> None:
    brought = {n: frozenset({n % 7, (n * 3) % 11, (n * 5) % 13, n % 17}) for n in range(40)}
    chosen, exact = mcdc.fewest(brought, most=3)
    assert not exact
    alone, exact = mcdc.fewest({n: frozenset({n, 1000 + n % 7}) for n in range(900)})
    assert (alone, exact) == (tuple(range(900)), True)  # each is needed
    assert frozenset().union(*(brought[test] for test in chosen)) == frozenset().union(*brought.values())
