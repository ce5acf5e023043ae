"""Replay of event streams: what each kind of event does to the mirror, and what a path remembers."""

from __future__ import annotations

import subprocess
from pathlib import Path as File

import hashes
import pytest
from events import NONE, Stream, assign, compare, condition, copy_template, memory, pin, replay, slot, symbolic, table

from score_embed.contract.sites import CondFlag, Leaf, Op, Place, Site, SiteKind, Step, Template
from score_embed.formula.expr import bytes_of, evaluate
from score_embed.trace.trail import Condition, TraceError, Trail

X = symbolic(16, slot(1), 4)  # int x in slot 1
X_IS_5 = condition(20, compare(Op.EQ, slot(1), 5))


def replay_x(value: int, stream: Stream, *sites: Site, verify: bool = False) -> Trail:
    """Replay with x symbolic, of this value."""
    return replay(table(X, X_IS_5, *sites), bytes(stream), value.to_bytes(4, "little"), verify)


def test_a_condition_is_true_in_its_run() -> None:
    path = replay_x(7, Stream().head(16).head(20, 0), X_IS_5)
    (found,) = path.conditions
    assert (found.site, found.direction, found.chain) == (20, 0, -1)
    assert evaluate(found.formula, path.data) == 1
    assert bytes_of(found.formula.deps) == [0, 1, 2, 3]
    assert found.elsewhere == (X_IS_5.coverage + 1,)
    assert path.condition_hash(1) == hashes.value(hashes.mix(hashes.START, 20 << 1))
    assert found.hash(flipped=True) == hashes.value(hashes.mix(hashes.START, 20 << 1 | 1))
    assert not path.notes


def test_a_direction_that_the_formula_denies_cuts_the_path() -> None:
    path = replay_x(7, Stream().head(16).head(20, 1).head(20, 0))
    assert path.diverged == 20
    assert not path.conditions
    assert path.notes == {("divergence", 20): 1}


def test_objects_are_numbered_when_declared_again() -> None:
    buffer = symbolic(17, memory(8), 0, "buf")
    stream = Stream().head(16).head(17).address(0x100).varint(3).head(16)
    path = replay(table(X, buffer), bytes(stream), bytes(11))
    assert [(o.name, o.offset, o.size) for o in path.objects] == [("x", 0, 4), ("buf", 4, 3), ("x#2", 7, 4)]


def test_more_input_than_the_test_has_is_damage() -> None:
    with pytest.raises(TraceError, match="more input"):
        replay(table(X), bytes(Stream().head(16)), bytes(3))


def test_memory_is_read_back_as_it_was_written() -> None:
    store = assign(30, memory(32), copy_template(slot(1)))
    load_byte = assign(31, slot(2, 8), copy_template(memory(8)))
    test = condition(32, compare(Op.EQ, slot(2, 8), 0x33))
    stream = Stream().head(16).head(30).address(0x2000).head(31).address(0x2001).head(32, 1)
    path = replay_x(0x11223344, stream, store, load_byte, test)
    assert bytes_of(path.conditions[0].formula.deps) == [1]


def test_partly_tainted_values_mix_with_concrete_bytes() -> None:
    buffer = symbolic(17, memory(8), 0, "buf")
    test = condition(18, compare(Op.EQ, memory(32), 0x11AA3344))
    stream = Stream().head(17).address(0x2002).varint(1)
    stream.head(18, 1).varint(2).address(0x2000).varint(0b0100).signed(0x11AA3344)
    path = replay(table(buffer, test), bytes(stream), b"\xaa")
    assert path.conditions[0].formula.deps == 1
    assert not path.diverged


@pytest.mark.parametrize("shift", [1, -1])
def test_overlapping_copies_move_all_bytes(shift: int) -> None:
    buffer = symbolic(17, memory(8), 0, "buf")
    copy = Site(18, SiteKind.COPY)
    test = condition(19, compare(Op.EQ, memory(8), 0))
    stream = Stream().head(17).address(0x2000).varint(4).head(18).address(0x2000 + shift).address(0x2000).varint(4)
    for i in range(4):
        stream.head(19, 0).address(0x2000 + shift + i)
    path = replay(table(buffer, copy, test), bytes(stream), b"abcd")
    assert [bytes_of(c.formula.deps) for c in path.conditions] == [[0], [1], [2], [3]]


def test_arguments_and_results_pass_between_activations() -> None:
    call = Site(30, SiteKind.CALL, leaves=(NONE, slot(1)))
    inner = assign(31, slot(0), copy_template(slot(2)))
    result = Site(32, SiteKind.RESULT, dest=slot(3))
    test = condition(33, compare(Op.EQ, slot(3), 9))
    stream = Stream().frame(1).head(16).head(30).varint(0b10).frame(2).head(31).frame(1).head(32).head(33, 1)
    path = replay_x(9, stream, call, inner, result, test)
    assert path.conditions[0].formula.deps == 0b1111


def test_a_switch_is_a_chain_of_conditions() -> None:
    site = Site(30, SiteKind.SWITCH, leaves=(slot(1),), labels=((1, 1), (5, 9), (12, 12)), coverage=50)
    path = replay_x(7, Stream().head(16).head(30).varint(1), site)
    assert [(c.chain, c.direction, c.elsewhere) for c in path.conditions] == [(0, 0, (50,)), (1, 1, (52, 53))]
    default = replay_x(70, Stream().head(16).head(30).varint(3), site)
    assert [c.direction for c in default.conditions] == [0, 0, 0]
    assert replay_x(4, Stream().head(16).head(30).varint(1), site).diverged == 30


def test_a_signed_range_may_cross_zero() -> None:
    site = Site(30, SiteKind.SWITCH, leaves=(slot(1),), labels=((0xFFFFFFFE, 3),), coverage=50)
    for value, arm in ((0xFFFFFFFF, 0), (2, 0), (4, 1), (0xFFFFFFFD, 1)):
        assert not replay_x(value, Stream().head(16).head(30).varint(arm), site).diverged


def test_an_assumption_is_never_flipped_to_its_false_side() -> None:
    site = condition(30, compare(Op.ULT, slot(1), 10), flags=CondFlag.ASSUMPTION)
    assert not replay_x(3, Stream().head(16).head(30, 1), site).conditions[0].flippable
    assert replay_x(30, Stream().head(16).head(30, 0), site).conditions[0].flippable


def test_opaque_results_are_remembered_where_they_decide() -> None:
    opaque = Site(30, SiteKind.OPAQUE, "a.c", 30, "main", "abs", dest=slot(2))
    both = (Step(Op.LEAF, 32, 0), Step(Op.LEAF, 32, 1), Step(Op.EQ, 32))
    test = condition(31, Template((slot(1), slot(2)), both))
    path = replay_x(5, Stream().head(16).head(30).signed(5).head(31, 1).varint(0b0101), opaque, test)
    assert path.notes == {("opaque result in a condition", 31): 1}
    assert path.conditions[0].formula.origins == {30}


def test_an_opaque_result_that_decides_nothing_loses_nothing() -> None:
    opaque = Site(30, SiteKind.OPAQUE, "a.c", 30, "main", "printf", dest=slot(2))
    path = replay_x(5, Stream().head(16).head(30).signed(5), opaque)
    assert not path.notes


def test_pins_keep_the_value_of_the_run() -> None:
    path = replay_x(6, Stream().head(16).head(30).head(20, 0).head(31), pin(30, slot(1)), pin(31, slot(1), "argument"))
    assert path.notes == {("symbolic address", 30): 1}
    assert [p.site for p in path.pins] == [30, 31]
    formula = path.pins[0].formula
    assert evaluate(formula, b"\6\0\0\0") == 1
    assert evaluate(formula, b"\7\0\0\0") == 0


def test_losses_are_noted_with_their_site() -> None:
    opaque = Site(30, SiteKind.OPAQUE, dest=NONE)
    store = assign(31, memory(32), copy_template(slot(1)))
    stream = Stream().head(16).head(31).address(0x2000)
    stream.head(2).varint(30).address(0x2000).varint(4).head(3).varint(30).head(4).varint(30).head(5).varint(31)
    path = replay_x(0, stream, opaque, store)
    assert {what for what, _ in path.notes} == {
        "symbolic memory changed by an opaque call",
        "symbolic data given to an opaque call",
        "symbolic result given to an opaque caller",
        "symbolic value stored out of reach",
    }
    load = condition(32, compare(Op.EQ, memory(8), 0))
    stream.head(32, 1).address(0x2000)
    with pytest.raises(TraceError, match="never symbolic"):
        replay_x(0, stream, opaque, store, load)


def test_verify_compares_stored_values() -> None:
    double = Template((slot(1),), (Step(Op.LEAF, 32, 0), Step(Op.LEAF, 32, 0), Step(Op.ADD, 32)))
    site = assign(30, slot(2), double)
    right = replay_x(21, Stream().head(16).head(30).signed(42), site, verify=True)
    assert not right.disagreements
    wrong = replay_x(21, Stream().head(16).head(30).signed(43), site, verify=True)
    assert [(d.site, d.stored, d.computed) for d in wrong.disagreements] == [(30, 43, 42)]


def test_an_error_names_the_byte_and_the_place() -> None:
    with pytest.raises(TraceError, match="no site 99") as caught:
        replay(table(X), bytes(Stream().head(16).head(99)), bytes(4))
    assert caught.value.where.startswith("event byte 3 of")
    with pytest.raises(TraceError, match="slot 1 at depth 0") as caught:
        replay(table(X_IS_5), bytes(Stream().head(20)), b"")
    assert caught.value.where == "a.c:20"


def test_a_malformed_template_is_an_error() -> None:
    bad = assign(
        30, slot(2), Template((slot(1), slot(2, 8)), (Step(Op.LEAF, 32, 0), Step(Op.LEAF, 8, 1), Step(Op.ADD, 32)))
    )
    with pytest.raises(TraceError, match="malformed"):
        replay_x(0, Stream().head(16).head(30).varint(0).signed(0).signed(0), bad)


def test_globals_have_their_address_from_the_image() -> None:
    cell = Leaf(Place.GLOBAL, 32, 0x4000)
    sites = (assign(30, cell, copy_template(slot(1))), condition(31, compare(Op.EQ, cell, 3)))
    path = replay_x(3, Stream().head(16).head(30).head(31, 1).varint(1), *sites)
    assert path.conditions[0].formula.deps == 0b1111


def test_hashes_are_those_of_the_runtime(tmp_path: File) -> None:
    program = tmp_path / "hash.c"
    program.write_text(
        """#include <stdint.h>
        #include <stdio.h>
        int main(void) {
            uint32_t a = 0x9E3779B9u, b = 0x7F4A7C15u, x = 1;
            for (int i = 0; i < 1000; i++, x = x * 1664525u + 1013904223u) {
                a = (a ^ x) * 0x85EBCA6Bu; a ^= a >> 13;
                b = ((b << 5 | b >> 27) + x) * 0xC2B2AE35u; b ^= b >> 16;
            }
            printf("%llu", (unsigned long long)a | (unsigned long long)b << 32);
        }""",
        encoding="utf-8",
    )
    subprocess.run(["gcc", "-o", tmp_path / "hash", program], check=True, timeout=60)
    printed = subprocess.run([tmp_path / "hash"], check=True, timeout=10, capture_output=True).stdout
    lanes, x = hashes.START, 1
    for _ in range(1000):
        lanes = hashes.mix(lanes, x)
        x = (x * 1664525 + 1013904223) & 0xFFFFFFFF
    assert int(printed) == hashes.value(lanes)


def test_a_branch_whose_template_compares_nothing_is_refused() -> None:
    site = condition(30, copy_template(slot(1)))
    with pytest.raises(TraceError, match="it is no condition"):
        replay_x(3, Stream().head(16).head(30, 1), site)


def test_which_event_holds_a_byte() -> None:
    store = assign(30, memory(32), copy_template(slot(1)))
    events = bytes(Stream().head(16).head(30).address(0x2000).head(20, 0).head(20, 0))
    data = bytes(4)
    trail = Trail(table(X, X_IS_5, store))
    trail.follow(events, data)
    for _ in range(2):  # whatever it is of before
        assert [trail.site_at(events, data, at) for at in range(len(events))] == [16, 30, 30, 30, 30, 20, 20]
        trail.follow(events[:1], data)
    assert trail.last_site == 16
    trail.follow(b"", b"")
    assert trail.last_site == 0


def test_how_much_of_a_stream_is_sound() -> None:
    whole = bytes(Stream().head(16).head(20, 0))
    trail = Trail(table(X, X_IS_5))
    for rest, sound in ((b"", 2), (bytes(Stream().head(99)), 2), (bytes([128]), 2), (bytes(Stream().head(20, 0)), 3)):
        assert trail.sound(whole + rest, bytes(4)) == sound
        trail.follow(whole, bytes(4))
        assert len(trail.conditions) == 1
    assert trail.sound(bytes(Stream().head(16)), b"") == 0  # more input than there is


def test_what_a_visitor_raises_leaves_the_path_before_the_event() -> None:
    class Enough(Exception):
        pass

    def visit(index: int, condition: Condition) -> None:
        if index == stop_at:
            raise Enough

    switch = Site(30, SiteKind.SWITCH, leaves=(slot(1),), labels=((1, 1), (2, 2)), coverage=50)
    events, data = bytes(Stream().head(16).head(20, 0).head(30).varint(2).head(20, 0)), bytes(4)
    for first, kept in ((0, 0), (1, 1), (2, 1), (3, 3)):
        stop_at, trail = first, Trail(table(X, X_IS_5, switch))
        with pytest.raises(Enough):
            trail.follow(events, data, visit=visit)
        assert len(trail.conditions) == kept
        trail.follow(events, data)
        assert [c.site for c in trail.conditions] == [20, 30, 30, 20]


def test_a_shorter_input_than_the_path_took_is_read_anew() -> None:
    other = symbolic(17, slot(2), 4, "y")
    sites = table(X, other, X_IS_5)
    trail = Trail(sites)
    trail.follow(bytes(Stream().head(16).head(20, 0).head(17).head(20, 0)), bytes(8))
    assert trail.rewind(bytes(Stream().head(16).head(20, 0).head(20, 0)), bytes(4), 9) == 0
    trail.extend(lambda index, condition: None)
    assert trail.consumed == 4
    trail.follow(bytes(Stream().head(16).head(20, 0).head(17).head(20, 0)), bytes(8))
    with pytest.raises(TraceError, match="more input"):
        trail.follow(bytes(Stream().head(16).head(20, 0).head(17).head(20, 0)), bytes(7))


def test_followers_go_back_with_the_path() -> None:
    class Follower:
        def __init__(self) -> None:
            self.known: list[int] = []

        def cut(self, count: int) -> None:
            del self.known[count:]

        def pass_by(self, condition: Condition) -> None:
            self.known.append(condition.direction)

    follower, trail = Follower(), Trail(table(X, X_IS_5))
    trail.register(follower)
    for value, directions in ((5, [1, 1, 1]), (5, [1, 1]), (0, [0, 0]), (0, [0, 0, 0])):
        stream = Stream().head(16)
        for direction in directions:
            stream.head(20, direction)
        trail.follow(bytes(stream), value.to_bytes(4, "little"))
        assert follower.known == directions
    with pytest.raises(TraceError):
        trail.follow(bytes(Stream().head(99)), bytes(4))
    assert follower.known == []
    assert trail.conditions == []
