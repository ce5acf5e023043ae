"""What another client says to have derived from a run is derived again: what is missing, and what may be."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pytest
from exploring import answered, next_pair, record, search
from test_concolic import Hard, finish, three_flips
from test_long_paths import DATA, PART, SITES, narrow, recorded, wide

from score_embed.explore.bounds import Bounds
from score_embed.explore.checking import Checker, Seen, mark, told
from score_embed.explore.pair import Pair, put_off
from score_embed.solve.chain import Chain, Gate, default_chain
from score_embed.solve.query import Limit, Stopped
from score_embed.trace.trail import Trail


def seen(pair: Pair, path: Trail, children: Sequence[Pair], given_up: Collection[int] = (), data: bytes = DATA) -> Seen:
    checker = Checker(Trail(SITES), default_chain(), Bounds(), told(pair, children, given_up))
    return checker.check(pair, finish(path), data)


def marks(*pairs: Pair) -> tuple[bytes, ...]:
    return tuple(mark(pair) for pair in pairs)


def test_all_that_a_run_leads_to() -> None:
    made = search(SITES, DATA)
    first, path = next_pair(made), narrow(4, 0, 3)
    children = recorded(made, first, path)
    assert len(children) == 2
    assert seen(first, path, children) == Seen(False, ())
    assert seen(first, path, children[:1]) == Seen(False, marks(children[1]))
    assert seen(first, path, ()) == Seen(False, marks(*children))


def test_another_input_is_no_other_child() -> None:
    made = search(SITES, DATA)
    first, path = next_pair(made), narrow(2, 0)
    (child,) = recorded(made, first, path)
    assert seen(first, path, [child.but(input=bytes(4), behind=3)]) == Seen(False, ())
    assert seen(first, path, [child.but(neg_limit=9)]) == Seen(False, marks(child))


def test_a_question_may_wait_or_be_answered() -> None:
    """One client asks at once what another lets wait."""
    made = search(SITES, DATA, default_chain())
    first, path = next_pair(made), wide(3)
    children = recorded(made, first, path)
    assert any(child.pending for child in children)
    found = answered(made, children)
    assert not any(child.pending for child in found)
    assert seen(first, path, children) == seen(first, path, found) == Seen(False, ())
    assert seen(first, path, ()) == Seen(False, marks(*found))


def test_what_has_no_answer_is_not_missing() -> None:
    """`x == 30` was not taken, and `x != 5` is assumed: the second `x == 30` cannot hold."""
    made = search(SITES, DATA)
    first = next_pair(made)
    path = narrow(3, 0)
    (child,) = recorded(made, first, path)
    assert seen(first, path, [child]) == Seen(False, ())


def test_where_the_solver_gave_up_nothing_is_missing() -> None:
    made = search(SITES, DATA)
    first, path = next_pair(made), narrow(4, 0, 3)
    children = recorded(made, first, path)
    sites = [path.conditions[child.neg_limit - 1].site for child in children]
    assert sites == [30, 31]
    assert seen(first, path, children[:1], given_up=[31]) == Seen(False, ())
    assert seen(first, path, children[:1], given_up=[30]) == Seen(False, marks(children[1]))


def test_a_question_that_was_answered() -> None:
    """Its pair's run is the path that it waited on."""
    made = search(SITES, DATA, default_chain())
    first, path = next_pair(made), wide(3)
    *_, last = recorded(made, first, path)
    assert last.pending == 1
    (child,) = answered(made, [last])
    assert seen(last, path, [child], data=last.input) == Seen(False, ())
    assert seen(last, path, [], data=last.input) == Seen(False, marks(child))


def test_what_is_hard_is_asked_to_the_end() -> None:
    """Else who keeps the answer to a hard question back is not found."""
    limit = Limit(1000)
    hard = Hard(limit)
    gate = Gate(hard)
    _, pair, path = three_flips()
    checker = Checker(Trail(path.table), Chain(gate, gate=gate, limit=limit), Bounds(), told(pair, ()))
    assert len(checker.check(pair, finish(path), pair.input).missing) == 3
    assert hard.asked[-2:] == [333, 1000]


@pytest.mark.parametrize("length", [PART + 2, 2 * PART + 9])
def test_the_rest_of_a_long_path_is_missing_too(length: int) -> None:
    """Both leave it at the same place. No client that tells all is accused, of none of the parts."""
    made = search(SITES, DATA)
    path, part = narrow(length, 0, PART, PART + 1), next_pair(made)
    while True:
        children = recorded(made, part, path)
        assert seen(part, path, children) == Seen(False, ())
        if not children or not children[-1].behind:
            break
        *flips, left = children
        assert seen(part, path, [*flips, left.but(decided=bytes(16))]).missing == marks(left)
        assert mark(left) in seen(part, path, flips).missing
        part = left
    assert part.neg_limit > PART


def test_a_rest_that_is_none() -> None:
    """Who says to have left what is not there: its place is in no path."""
    made = search(SITES, DATA)
    first, long = next_pair(made), narrow(PART + 2, 0)
    *_, left = recorded(made, first, long)
    short = narrow(3, 0)
    (child,) = recorded(search(SITES, DATA), first, short)
    assert seen(first, short, [child, left]) == Seen(False, marks(first))


def test_a_pair_may_be_put_off_as_a_whole() -> None:
    made = search(SITES, DATA)
    path = narrow(30, 20)
    pair = next_pair(made).but(neg_limit=19)
    assert seen(pair, path, [put_off(pair)]) == Seen(False, ())


def test_a_run_of_another_path_says_nothing() -> None:
    made = search(SITES, DATA)
    first, path = next_pair(made), narrow(4, 0, 3)
    wrong = first.but(place=1, predicted=1, condition_hash=1)
    assert seen(wrong, path, ()) == Seen(True, ())


def test_of_a_run_whose_formulas_are_wrong_nothing_follows() -> None:
    """It has other operands than the target counted: nobody derives anything, and nobody expects it."""
    made = search(SITES, DATA)
    first, path = next_pair(made), narrow(4, 0, 3)
    wrong = finish(path, operand_hash=1)
    assert not record(made, first, wrong, path.data).outcome.children
    checker = Checker(Trail(SITES), default_chain(), Bounds(), told(first, ()))
    assert checker.check(first, wrong, DATA) == Seen(False, ())


def test_the_end_of_the_campaign_breaks_a_check_off() -> None:
    made = search(SITES, DATA)
    first, path = next_pair(made), narrow(4, 0)
    chain = default_chain()
    chain.stop = lambda: True
    checker = Checker(Trail(SITES), chain, Bounds(), told(first, ()))
    with pytest.raises(Stopped):
        checker.check(first, finish(path), DATA)
