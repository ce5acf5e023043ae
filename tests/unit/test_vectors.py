"""Decisions from the source to vectors: what the front-end lists, how events are read, what a book of vectors keeps."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from score_embed.campaign.criteria import VectorReports, VectorRuns
from score_embed.contract.coverage import Condition, decision
from score_embed.contract.outcome import Finished, Run, Verdict
from score_embed.contract.program import Source
from score_embed.contract.sites import Site, SiteKind, SiteTable
from score_embed.frontend.program import instrument_program
from score_embed.frontend.types.data_model import DataModel
from score_embed.image.site_reader import SiteTableError, parse_site_table
from score_embed.results import mcdc
from score_embed.results.vectors import Brought, Taken, VectorBook, VectorState, fewest_tests, require
from score_embed.trace.trail import TraceError
from score_embed.trace.vectors import VectorReader

HEADER = "void __score_assume_fail(void) __attribute__((noreturn)); int g(int);\n"


@pytest.fixture(scope="module")
def model() -> DataModel:
    done = subprocess.run(["gcc", "-dM", "-E", "-x", "c", "/dev/null"], capture_output=True, text=True, check=True)
    return DataModel.from_macros(done.stdout)


def metas(model: DataModel, text: str) -> list[Any]:
    """The decisions that the instrumented text lists, as texts, with the values of literals."""
    source = Source(Path("t.c"), f'# 1 "t.c"\n{HEADER}{text}\n')
    program = instrument_program([source], model, instrument=(), argument_order="right", verify=False, strict=True)
    found = []
    arrays = re.findall(r'sc_meta\d+\[\].*?=\n((?:  ".*"\n?)+);', program.texts[0])
    for array in arrays:
        pieces = re.findall(r'"((?:[^"\\]|\\.)*)"', array)
        meta = json.loads(json.loads(f'"{"".join(pieces)}"'.replace("\\?", "?")))
        for row in meta.get("decisions", ()):
            conditions = [Condition(*condition) for condition in row[4]]
            found.append(decision(meta["files"][row[0]], row[1], meta["functions"][row[2]], row[3], conditions))
    return found


def test_each_place_of_a_decision_is_listed(model: DataModel) -> None:
    text = """int f(int a, int b, int c) {
        int x = a && b;
        if (!(a || !b) && c > 3) x++;
        while (x && a--) ;
        do x--; while (x || a);
        for (; a && b && c; ) ;
        x = a && b ? 1 : 2;
        a && g(b) && g(c);
        return b || (c, a);
    }"""
    assert [(one.line - 1, one.text) for one in metas(model, text)] == [
        (2, "a && b"),
        (3, "!(a || !b) && c > 3"),
        (4, "x && a--"),
        (5, "x || a"),
        (6, "a && b && c"),
        (7, "a && b"),
        (8, "a && g(b)"),
        (9, "b || a"),
    ]


def test_a_decision_in_a_condition_is_one_of_its_own(model: DataModel) -> None:
    found = metas(model, "int f(int a, int b, int c) { return a && g(b || c) && (b ? c : a); }")
    assert [one.text for one in found] == ["a && g(b || c) && ((b) ? (c) : (a))", "b || c"]


def test_single_conditions_and_assumptions_are_not_listed(model: DataModel) -> None:
    text = "int f(int a, int b) { if (!(a && b)) __score_assume_fail(); if (a) return 1; return a & b; }"
    assert metas(model, text) == []


def test_constants_are_named(model: DataModel) -> None:
    (found,) = metas(model, "int f(int a) { return 0 || a || sizeof(int) == 2; }")
    assert [(condition.text, condition.constant) for condition in found.conditions] == [
        ("0", False),
        ("a", None),
        ("(sizeof(int)) == 2", None),
    ]
    assert [bool(condition.site) for condition in found.conditions] == [False, True, True]


ONE_SITE = b"".join(word.to_bytes(4, "little") for word in (0x5C0E, 16, int(SiteKind.CONSTANT), 1, 0))


def test_what_the_compiler_knows_is_read_from_the_image() -> None:
    meta = {
        "files": ["t.c"],
        "functions": ["f"],
        "decisions": [[0, 4, 0, [0, 1, "||"], [[16, "N == 2", None], [0, "1", True]]]],
    }
    table = parse_site_table(ONE_SITE, json.dumps(meta).encode(), 32)
    (found,) = table.decisions
    assert [condition.constant for condition in found.conditions] == [False, True]


@pytest.mark.parametrize(
    "row",
    [
        [0, 4, 0, [0, "&&"], [[0, "a", None]]],
        [0, 4, 0, [1, 0, "&&"], [[0, "a", None], [0, "b", None]]],
        [0, 4, 0, [0, 1], [[0, "a", None], [0, "b", None]]],
        [0, 4, 0, [0, 1, "&&"], [[99, "a", None], [16, "b", None]]],
        [7, 4, 0, [0, 1, "&&"], [[0, "a", None], [0, "b", None]]],
        [0, 4, 0, [0, 1, "^"], [[0, "a", None], [0, "b", None]]],
        [0, 4, 0],
        ["t.c", 4, 0, [0, 1, "&&"], [[0, "a", None], [16, "b", None]]],
        [0, 4, 0, [0, 1, "&&"], [[0, "a", 7], [16, "b", None]]],
        [0, 4, 0, [0, 1, "&&"], [["a", 0, None], [16, "b", None]]],
    ],
)
def test_a_damaged_decision_is_refused(row: list[Any]) -> None:
    meta = json.dumps({"files": ["t.c"], "functions": ["f"], "decisions": [row]}).encode()
    with pytest.raises(SiteTableError):
        parse_site_table(ONE_SITE, meta, 32)


def test_what_the_compiler_left_out_has_no_decisions() -> None:
    row = [0, 4, 0, [0, 1, "&&"], [[99, "a", None], [98, "b", None]]]
    meta = json.dumps({"files": ["t.c"], "functions": ["f"], "decisions": [row]}).encode()
    assert parse_site_table(ONE_SITE, meta, 32).decisions == ()


# A table of two decisions and a switch: a && b (sites 16, 17), c || d (18, 19).
def table() -> SiteTable:
    sites = {n: Site(n, SiteKind.COND, coverage=2 * (n - 16)) for n in range(16, 20)}
    sites[20] = Site(20, SiteKind.SWITCH, labels=((1, 1), (5, 9)), coverage=8)
    sites[21] = Site(21, SiteKind.ASSIGN)
    ands = decision("t.c", 1, "f", [0, 1, "&&"], [Condition(16, "a"), Condition(17, "b")])
    ors = decision("t.c", 2, "f", [0, 1, "||"], [Condition(18, "c"), Condition(19, "d")])
    return SiteTable(32, sites, (ands, ors))


def events(*said: tuple[str, int] | tuple[int, int]) -> bytes:
    """("depth", by how much) or (site, outcome)."""
    out = b""
    for what, number in said:
        if what == "depth":
            out += bytes([0, number << 1 ^ (number >> 31 if number < 0 else 0) if number >= 0 else (-number << 1) - 1])
        else:
            assert isinstance(what, int)
            out += bytes([what << 1, number])
    return out


def test_vectors_are_read_by_activation() -> None:
    reader = VectorReader(table())
    assert reader.read(events((16, 1), (17, 0), (18, 1))).taken == {(0, "TF"), (1, "T-")}
    # The function calls itself in the midst of the decision: each activation has its own.
    nested = events((16, 1), ("depth", 1), (16, 0), ("depth", -1), (17, 1))
    found = reader.read(nested)
    assert found.taken == {(0, "F-"), (0, "TT")}
    assert found.left == 0
    assert found.directions == {0, 1, 3}


def test_a_decision_that_was_left_gives_no_vector() -> None:
    reader = VectorReader(table())
    for said in ([(16, 1)], [(16, 1), (16, 0)], [(17, 1)]):
        found = reader.read(events(*said))
        assert found.left == 1
        assert found.taken <= {(0, "F-")}


def test_each_decision_that_was_left_is_counted() -> None:
    """Begun anew, come to from nowhere, and open at the end."""
    said = [(16, 1), (16, 1), (18, 0), (18, 0), (17, 0), (17, 1), (16, 1)]
    found = VectorReader(table()).read(events(*said))
    assert (found.taken, found.left) == ({(0, "TF")}, 5)


def test_constants_are_part_of_a_vector_and_have_no_event() -> None:
    """1 && !a || (0 || b) && c, of which only a, b and c have probes."""
    conditions = [Condition(0, "1", True), Condition(16, "a"), Condition(0, "0", False), Condition(17, "b")]
    postfix: list[int | str] = [0, 1, "!", "&&", 2, 3, "||", 4, "&&", "||"]
    one = decision("t.c", 1, "f", postfix, [*conditions, Condition(18, "c")])
    reader = VectorReader(SiteTable(32, table().sites, (one,)))
    assert reader.read(events((16, 0))).taken == {(0, "TF---")}
    assert reader.read(events((16, 1), (17, 0))).taken == {(0, "TTFF-")}
    assert reader.read(events((16, 1), (17, 1), (18, 1))).taken == {(0, "TTFTT")}


def test_marks_of_statements_are_passed_over() -> None:
    plain = table()
    marked = SiteTable(32, {**plain.sites, 22: Site(22, SiteKind.MARK)}, plain.decisions)
    found = VectorReader(marked).read(events((16, 1), (22, 7), (17, 1)))
    assert (found.taken, found.directions, found.left) == ({(0, "TT")}, {1, 3}, 0)


def test_what_is_wrong_with_a_stream_is_said_with_its_place() -> None:
    for data, what in ((bytes([42]), "site 21 is no condition"), (bytes([32, 1, 40, 3]), "arm 3 of a switch")):
        with pytest.raises(TraceError) as caught:
            VectorReader(table()).read(data)
        assert (caught.value.what, caught.value.where) == (f"the trace is damaged: {what}", f"event byte {len(data)} of {len(data)}")


def test_arms_of_a_switch_are_directions() -> None:
    assert VectorReader(table()).read(events((20, 2))).directions == {10}


@pytest.mark.parametrize(
    "data", [bytes([42]), bytes([200, 1]), bytes([40, 3]), bytes([40]), bytes([32, 2]), bytes([128]), bytes([0, 1])]
)
def test_what_is_no_such_stream_is_refused(data: bytes) -> None:
    with pytest.raises(TraceError):
        VectorReader(table()).read(data)


class _Runs(VectorRuns):
    """Tests that take what is given."""

    def __init__(self, *taken: Taken | None) -> None:
        self._given, self.learned = list(taken), list[tuple[int, str]]()

    def look(self, test: Run, finished: Finished) -> Taken | None:
        return self._given.pop(0)

    def learn(self, fresh: Sequence[tuple[int, str]]) -> None:
        self.learned += fresh


def test_a_client_tells_of_a_vector_once() -> None:
    """And of all that a test took which brought something new: a small set of tests is chosen among these."""
    both, other, more = (
        Taken(((0, "TT"), (0, "F-")), (1, 2), 0),
        Taken(((0, "F-"),), (2,), 3),
        Taken(((0, "F-"),), (2, 5), 0),
    )
    runs = _Runs(both, other, None, more, both)
    reports = VectorReports(runs)
    run, finished = Run(1, b""), Finished(Verdict.RETURN, 0, 0, 0, 0, (), 0, 0, True, 0, b"", (), 0, 0, b"")
    assert [reports.look(run, finished) for _ in range(5)] == [both, Taken((), (), 3), None, more, Taken((), (), 0)]
    assert runs.learned == [(0, "TT"), (0, "F-")]


def test_a_book_goes_on_where_it_was_kept() -> None:
    book = VectorBook()
    assert book.enter(1, Taken(((0, "TT"),), (1, 3), 0), own=True) == [(0, "TT")]
    assert book.enter(2, Taken(((0, "TT"),), (1, 3), 0), own=False) == []
    book = VectorBook(book.state())
    assert book.enter(3, Taken(((0, "F-"), (0, "TF")), (0, 1, 2), 1), own=False) == [(0, "F-"), (0, "TF")]
    book.skip()
    state = book.state()
    assert [row.test for row in state.brought] == [1, 3]
    assert (state.tests, state.own, state.unknown, state.left) == (3, 1, 1, 1)
    assert book.all() == [(0, "TT"), (0, "F-"), (0, "TF")]
    require(state, table().decisions)
    assert fewest_tests(state, table().decisions, range(8)) == ((3,), True)  # the first is the user's


@pytest.mark.parametrize(
    "state",
    [
        VectorState(vectors=((2, "TT", 1),)),
        VectorState(vectors=((-1, "TT", 1),)),
        VectorState(vectors=((0, "T", 1),)),
        VectorState(vectors=((0, "Tx", 1),)),
        VectorState(brought=(Brought(1, (0,), (), False),)),
    ],
)
def test_vectors_of_other_decisions_are_refused(state: VectorState) -> None:
    with pytest.raises(ValueError, match=r"decision|vectors"):
        require(state, table().decisions)


def test_a_decision_of_thousands_of_conditions() -> None:
    count = 3000
    postfix: list[int | str] = [0]
    for number in range(1, count):
        postfix += [number, "||"]
    one = decision("t.c", 1, "f", postfix, [Condition(16 + n, "x") for n in range(count)])
    assert len(one.text) == 5 * count - 4
    assert len(mcdc.possible(one)) == 2 * count
    first, last = "T" + "-" * (count - 1), "F" * (count - 1) + "T"
    assert mcdc.items(one, last) == {(count - 1, True)}
    assert set(mcdc.shown(one, [first, last, "F" * count]).unique) == {0, count - 1}
