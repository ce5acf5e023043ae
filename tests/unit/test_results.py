"""Test cases, bugs, coverage and the campaign's record."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tarfile
import textwrap
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import recorded
from elftools.elf.elffile import ELFFile
from msgspec import structs

from score_embed.contract.sites import CondFlag, Leaf, Op, Place, Site, SiteKind, SiteTable, Step, Template
from score_embed.contract.words import Unflipped
from score_embed.errors import StorageError, UsageError
from score_embed.explore.pair import LeftOut, Pair, first_pair
from score_embed.report import findings, inputs
from score_embed.results import bugs, coverage, parts, storage, store, summary, test_rows, testcase
from score_embed.results.line_program import rows
from score_embed.results.lines import LineTable

OBJECTS = (
    testcase.Named("x", 0, 4, "signed"),
    testcase.Named("x#2", 4, 1, "unsigned"),
    testcase.Named("buf", 5, 3, "bytes"),
)


def test_how_deep_a_recursion_was_makes_no_other_bug() -> None:
    assert bugs.called(["g", "f", "g", "f", "main"]) == ("g", "f", "main")
    assert bugs.called(["f", "score_entry_3", "main"]) == ("f", "main")


def test_a_boolean_is_the_lowest_bit() -> None:
    assert [testcase.Named("q", 0, 1, "boolean").value(bytes([b])) for b in (0, 1, 150, 151)] == [0, 1, 0, 1]


def case(data: bytes) -> testcase.TestCase:
    inputs = testcase.named_inputs(OBJECTS, data)
    return testcase.TestCase(12, data, inputs, "return", 0, 0x1234567889ABCDEF, "a.c:3", "hi\n")


def test_a_test_case_round_trips_through_its_json(tmp_path: Path) -> None:
    data = (-5).to_bytes(4, "little", signed=True) + b"\xfe" + b"\x0a\x0b\x0c"
    test = case(data)
    assert test.inputs == {"x": -5, "x#2": 254, "buf": "0a0b0c"}
    test.write(tmp_path)
    assert (tmp_path / "000012-89abcdef.bin").read_bytes() == data
    written = json.loads((tmp_path / "000012-89abcdef.json").read_text(encoding="utf-8"))
    assert written["path"] == "1234567889abcdef"
    first = testcase.read_first(tmp_path / "000012-89abcdef.json")
    assert first.fill(bytes(8), OBJECTS) == data
    assert first.unknown(OBJECTS) == []
    assert testcase.read_first(tmp_path / "000012-89abcdef.bin").data == data


def test_first_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "first.json"
    path.write_text('{"inputs": {"x": 22, "buf": "0a0b", "y": 1}}', encoding="utf-8")
    first = testcase.read_first(path)
    assert first.fill(b"", OBJECTS) == bytes([22, 0, 0, 0, 0, 10, 11, 0])
    assert first.unknown(OBJECTS) == ["y"]


def test_own_tests_are_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "empty").mkdir()
    said = {"file": "this is no folder", "nix": "there is no such folder", "empty": "there is no file in this folder"}
    for name, what in said.items():
        with pytest.raises(UsageError) as caught:
            testcase.read_own(tmp_path / name)
        assert (caught.value.what, caught.value.where) == (what, str(tmp_path / name))


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"x": 1}', '{"inputs": {"x": [1]}}', '{"inputs": {"x": "0g"}}', '{"inputs": {"x": true}}'],
)
def test_bad_first(text: str, tmp_path: Path) -> None:
    path = tmp_path / "first.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        testcase.read_first(path)
    assert caught.value.where == str(path)
    assert caught.value.hint


@pytest.mark.parametrize(
    "values", ['{"x": 4294967296}', '{"x#2": -129}', '{"buf": "00000000"}', '{"x": 1.5}', '{"buf": 0.5}']
)
def test_values_that_do_not_fit(values: str, tmp_path: Path) -> None:
    path = tmp_path / "first.json"
    path.write_text(f'{{"inputs": {values}}}', encoding="utf-8")
    with pytest.raises(UsageError):
        testcase.read_first(path).fill(b"", OBJECTS)


def test_floating_point_inputs(tmp_path: Path) -> None:
    """The shortest number that has the pattern; what JSON has no number for is hex."""
    objects = (
        testcase.Named("f", 0, 4, "float"),
        testcase.Named("d", 4, 8, "float"),
        testcase.Named("n", 12, 4, "float"),
    )
    data = bytes.fromhex("cdcccc3d9a9999999999b9bf010080ff")
    test = testcase.TestCase(1, data, testcase.named_inputs(objects, data), "return", 0, 1, "", "")
    assert test.inputs == {"f": 0.1, "d": -0.1, "n": "010080ff"}
    test.write(tmp_path)
    first = testcase.read_first(tmp_path / f"{test.stem}.json")
    assert first.fill(b"", objects) == data
    path = tmp_path / "first.json"
    path.write_text('{"inputs": {"f": 3, "d": 1e300}}', encoding="utf-8")
    assert testcase.read_first(path).fill(bytes(4), objects)[:4] == bytes.fromhex("00004040")
    path.write_text('{"inputs": {"f": 1e300}}', encoding="utf-8")
    with pytest.raises(UsageError, match="does not fit"):
        testcase.read_first(path).fill(b"", objects)


def test_a_folder_of_first_tests(tmp_path: Path) -> None:
    for name, data in {"b.bin": b"2", "a.bin": b"1", "c.bin": b"2", "a.json": b"{}"}.items():
        (tmp_path / name).write_bytes(data)
    first = testcase.read_first(tmp_path)
    assert (first.data, first.others) == (b"1", (b"2",))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"no \.bin file"):
        testcase.read_first(tmp_path / "empty")


def test_missing_first(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read the first test"):
        testcase.read_first(tmp_path / "none.bin")


def cond(ident: int, index: int, flags: int = 0) -> Site:
    leaf = Leaf(Place.SLOT, 8, 1)
    template = Template((leaf,), (Step(Op.LEAF, 8, 0), Step(Op.CONST, 8, 0), Step(Op.EQ, 8)))
    return Site(ident, SiteKind.COND, "a.c", ident, "f", template=template, coverage=index, flags=flags)


TABLE = SiteTable(
    64,
    {
        16: cond(16, 0),
        17: cond(17, 2, flags=CondFlag.ASSUMPTION),
        18: Site(
            18,
            SiteKind.SWITCH,
            "a.c",
            18,
            "f",
            leaves=(Leaf(Place.SLOT, 8, 1),),
            labels=((3, 3),),
            coverage=4,
        ),
        19: Site(19, SiteKind.ENTER, "a.c", 19, "g"),
    },
)


def test_coverage_and_reasons() -> None:
    seen = coverage.Coverage(coverage.directions_of(TABLE))
    assert seen.total == 5  # the false side of the assumption is nobody's goal
    assert seen.add([1, 2, 3]) == [1, 3]
    assert seen.add([1]) == []
    rows = seen.unflipped({(0, Unflipped.UNSAT): 4, (0, Unflipped.UNKNOWN): 1})
    assert [(r.line, r.direction, r.reason, r.count) for r in rows] == [
        (16, "false", "unknown", 1),
        (18, "case 3", "not-reached", 0),
        (18, "default", "not-reached", 0),
    ]
    assert [r.reason for r in seen.unflipped({(0, Unflipped.UNSAT): 4}, waiting={0})] == [
        "waiting",
        "not-reached",
        "not-reached",
    ]
    seen.add([4])
    assert seen.unflipped({})[-1].reason == "concrete"


def test_bugs_are_counted_by_kind_and_place() -> None:
    place = bugs.Place("a.c", 3, "f", ("f", "main"))
    found = bugs.BugList()
    bug = found.add(bugs.Bug.at(place, "abort", {"x": 1}, 7))
    assert found.add(bugs.Bug.at(place, "abort", {"x": 2}, 9)) is bug
    assert found.add(bugs.Bug.at(place, "hang", {"x": 2}, 9)) is not bug
    assert len(found) == 2
    assert (bug.count, bug.test) == (2, 7)
    assert parts.decode(parts.encode(bug), bugs.Bug) == bug


def test_lines_of_a_real_program(tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text("int f(int x)\n{\n    return 10 / x;\n}\nint main(void) { return f(1); }\n", encoding="utf-8")
    program = tmp_path / "p"
    subprocess.run(["gcc", "-g", "-O0", "-static", "-o", program, source], check=True, timeout=60)
    symbols = subprocess.run(["nm", program], check=True, capture_output=True, text=True, timeout=60).stdout
    start = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" T f"))
    table = LineTable(program, [str(source)])
    assert table.find(start) == (str(source), 2)
    assert {table.find(start + i) for i in range(8, 16)} & {(str(source), 3)}
    assert table.find(0) is None
    assert LineTable(program, ["other.c"]).find(start) is None
    assert LineTable(source, [str(source)]).find(start) is None  # not an ELF file


@pytest.mark.parametrize("version", [3, 4, 5])
def test_rows_of_a_line_program_are_those_that_pyelftools_finds(version: int, tmp_path: Path) -> None:
    source, program = tmp_path / "p.c", tmp_path / "p"
    apart = "\n" * 300
    source.write_text(
        f"int f(int x)\n{{\n    int s = 0;{apart}    for (int i = 0; i < x; i++)\n        s += i % 7 ? i : x / (i + 1);\n"
        f"    return s;\n}}{apart}int main(int c, char **v) {{ return f(c) + f(**v); }}\n",
        encoding="utf-8",
    )
    flags = [f"-gdwarf-{version}", "-O2", "-ffunction-sections"]
    subprocess.run(["gcc", *flags, "-o", program, source], check=True, timeout=60)
    with program.open("rb") as stream:
        dwarf = ELFFile(stream).get_dwarf_info()
    read = [one for unit in dwarf.iter_CUs() if (one := dwarf.line_program_for_CU(unit)) is not None]
    assert read
    for one in read:
        states = [entry.state for entry in one.get_entries() if entry.state is not None]
        assert list(rows(one)) == [(s.address, s.file, s.line, bool(s.end_sequence)) for s in states]
        assert len(states) > 20


def row(number: int, path: int, outcome: str = "new", code: int = 0) -> test_rows.TestRow:
    return test_rows.TestRow(number, b"ab%d" % number, "return", code, path, outcome, "", (recorded.X,), f"hi {number}")


def together(tests: Iterable[test_rows.TestRow], layout: int) -> list[test_rows.Alike]:
    rows = test_rows.RowsAlike()
    for one in tests:
        common = (one.verdict, one.code, one.outcome == "new", one.outcome, one.place, layout)
        rows.add(one.number, common, (bytearray(one.input), one.path_hash, one.output))
    return rows.rows


@pytest.mark.parametrize("batches", [(1,), (7, 1), (8,), (9, 16), (3, 30, 3), (20, 0, 21)])
def test_rows_that_are_written_together_are_those_that_were_given(batches: tuple[int, ...], tmp_path: Path) -> None:
    """However many there are, given one by one or many at once, and whatever they have in common."""
    given: list[test_rows.TestRow] = []
    with store.Store.create(tmp_path) as record:
        layout = record.layout((recorded.X,))
        for size in batches:
            numbers = range(len(given) + 1, len(given) + size + 1)
            tests = [row(n, 1000 * n, "redundant" if n % 11 == 0 else "new", code=n // 5 % 2) for n in numbers]
            given += tests
            if tests:
                record.add_test(tests.pop(0), True)
            record.add_tests(together(tests, layout), [one.path_hash for one in tests])
            if size % 2:
                record.commit()
    with store.Store.read(tmp_path) as record:
        assert list(record.tests()) == given
        assert [one.number for one in record.path_tests()] == [one.number for one in given if one.outcome == "new"]
        assert sorted(record.path_hashes()) == sorted({one.path_hash for one in given})


def test_rows_are_put_together_that_follow_each_other_and_have_the_rest_in_common() -> None:
    numbers = [*range(1, 12), 13, 14, *range(20, 24)]
    rows = together([row(n, n, code=n // 22) for n in numbers], 7)
    assert [(each[0], (len(each) - test_rows.COMMON) // test_rows.OWN) for each in rows] == [
        *((1, 8), (9, 3)),  # eight at most
        (13, 2),
        *((20, 2), (22, 2)),
    ]
    assert [own for each in rows for own in test_rows.of_each(each)] == [
        (bytearray(b"ab%d" % n), n, f"hi {n}") for n in numbers
    ]


def test_rows_take_no_more_room_when_they_have_less_in_common(tmp_path: Path) -> None:
    sizes = []
    for name, few in (("alike", 10**9), ("mixed", 11)):
        folder = tmp_path / name
        folder.mkdir()
        with store.Store.create(folder) as record:
            layout = record.layout((recorded.X,))
            record.add_tests(together([row(n, n, code=n // few) for n in range(1, 20_001)], layout), [])
        sizes.append((folder / "campaign.db").stat().st_size)
    assert sizes[1] < 1.1 * sizes[0]


def test_the_record_comes_back(tmp_path: Path) -> None:
    high = 2**64 - 3
    with store.Store.create(tmp_path) as record:
        a, b, c, d = (first_pair(name).but(id=name * 16) for name in (b"a", b"b", b"c", b"d"))
        record.waiting.add([a, b, d], [b"3", b"2", b"0"])
        record.add_test(row(1, high), True)
        record.add_test(row(2, 5, "mispredicted"), False)
        record.waiting.done(a)
        record.waiting.add([c], [b"1"])
        record.add_coverage([1, 2], 1)
        record.put_bug(bugs.Bug("abort", "a.c", 1, "f", (), {}, 1))
        record.commit(recorded.progress("time"))
    with store.Store.open(tmp_path) as record:
        assert record.pairs.waiting() == 3
        assert list(record.waiting.waiting_after(b"")) == [(b"0", d), (b"1", c), (b"2", b)]
        ((_, found),) = record.waiting.waiting_after(b"1")
        assert found == b
        ((_, first), *_) = record.waiting.waiting_after(b"")
        record.waiting.rerank(first, b"9")
        assert list(record.waiting.waiting_after(b"1")) == [(b"2", b), (b"9", d)]
        record.waiting.done(found)
        record.waiting.add([a], [b""])
        assert list(record.waiting.waiting_after(b"")) == [(b"1", c), (b"9", d)]
        ((unranked),) = record.waiting.unranked()
        record.waiting.rerank(unranked, b"0")
        record.waiting.add([b], [b"4"])
        record.waiting.rerank(b, b"5")  # before it was written
        assert list(record.waiting.waiting_after(b"")) == [(b"0", a), (b"1", c), (b"5", b), (b"9", d)]
        assert record.path_hashes() == {high}
        assert record.coverage() == [1, 2]
        assert [t.path_hash for t in record.tests()] == [high, 5]
        assert [t.number for t in record.first_paths(9)] == [1]
        assert record.get(parts.PROGRESS) == recorded.progress("time")
        assert record.get(parts.FLEET) is None
        assert record.bugs()[0].kind == "abort"


@pytest.mark.parametrize("commits", [False, True])
def test_what_a_fleet_has_done_is_remembered(commits: bool, tmp_path: Path) -> None:
    """Its clients may report it once more, and may not know that another has."""
    with store.Store.create(tmp_path) as record:
        record.pairs.remember()
        record.pairs.add([(b"a", b"3", b"A")], "1 x")
        if commits:
            record.commit()
        record.pairs.done(b"a", 2**64 - 1)
        record.pairs.done(b"b")
        if commits:
            record.commit()
        record.pairs.add([(b"a", b"3", b"A"), (b"b", b"3", b"B"), (b"c", b"1", b"C")])
        assert record.pairs.waiting() == 1
    with store.Store.open(tmp_path) as record:
        assert record.pairs.path_of(b"a") == 2**64 - 1
        assert record.pairs.path_of(b"b") is None
        assert record.pairs.done_among([b"a", b"b", b"c"]) == {b"a", b"b"}
        record.pairs.add([(b"a", b"3", b"A")])  # a session without a fleet, which knows as much
        assert [ident for ident, _ in record.pairs.owners()] == [b"c"]


def test_layouts_are_kept_once_for_all_tests_that_have_them(tmp_path: Path) -> None:
    """Of more than are remembered, an early one is kept twice; each test has its own in either case."""

    def of(number: int) -> test_rows.TestRow:
        size = 1 + number % 300
        return structs.replace(
            row(number, number), input=bytes(size), objects=(testcase.Named("b", 0, size, "bytes"),)
        )

    with store.Store.create(tmp_path) as record:
        for number in range(1, 410):
            record.add_test(of(number), True)
    with store.Store.open(tmp_path) as record:
        record.add_test(of(410), True)
        record.add_test(of(411), True)
        assert [test.inputs for test in record.tests()] == [of(number).inputs for number in range(1, 412)]
        assert record.path_hashes() == set(range(1, 412))
        ((kept,),) = record._database.rows("SELECT count(*) FROM layouts")
        assert 300 < kept <= 411
    again = [of(1)] * 50
    (tmp_path / "one").mkdir()
    with store.Store.create(tmp_path / "one") as record:
        for number, test in enumerate(again, 1):
            record.add_test(structs.replace(test, number=number), False)
            if number % 10 == 0:
                record.commit()
        assert record._database.rows("SELECT count(*) FROM layouts") == [(1,)]


def test_a_killed_writer_leaves_the_last_commit(tmp_path: Path) -> None:
    script = textwrap.dedent(
        f"""
        import os, signal
        from pathlib import Path
        from score_embed.explore.pair import first_pair
        from score_embed.results.store import Store
        record = Store.create(Path({str(tmp_path)!r}))
        a, b = (first_pair(name).but(id=name * 16) for name in (b"a", b"b"))
        record.waiting.add([a], [b"0"])
        record.commit()
        record.waiting.done(a)
        record.waiting.add([b], [b"0"])
        os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    died = subprocess.run([sys.executable, "-c", script], env=os.environ, timeout=60, check=False)
    assert died.returncode == -signal.SIGKILL
    with store.Store.open(tmp_path) as record:
        assert list(record.waiting.waiting_after(b"")) == [(b"0", first_pair(b"a").but(id=b"a" * 16))]


LONG, SHORT = bytes(range(256)) * 4, b"short"


def flip(number: int, data: bytes, pending: int = 1, left_out: LeftOut | None = None) -> Pair:
    ident = bytes([number]) * 16
    return Pair(ident, data, number, number, number, 7, 5, range(3), left_out, ident[::-1], pending, 2)


def flips() -> list[Pair]:
    """Of three runs, two with long inputs; one is pending no more."""
    around = LeftOut(b"d" * 16, ((64, 4), (128, 8)))
    pending = flip(1, LONG), flip(2, LONG, left_out=around), flip(3, SHORT)
    return [*pending, flip(4, LONG, pending=0), flip(5, LONG[1:])]


def all_of(record: store.Store) -> list[Pair]:
    return [pair for _, pair in record.waiting.waiting_after(b"")]


def run_out_of_inputs(record: store.Store, put: Callable[..., None], pairs: list[Pair]) -> None:
    """An input goes when the last of its flips is done, and what comes later has one again."""
    kept = "SELECT number, length(data) FROM inputs ORDER BY number"
    assert {Pair.from_bytes(data).targets for data in record.pairs.without_inputs()} == {range(3)}
    assert record._database.rows(kept) == [(1, 1024), (2, 1023)]
    for pair in all_of(record)[:2]:
        record.waiting.done(pair)
    record.pairs.free()
    assert record._database.rows(kept) == [(1, 1024), (2, 1023)]
    record.waiting.done(all_of(record)[-1])
    record.pairs.free()
    assert record._database.rows(kept) == [(2, 1023)]
    put(record, flip(8, LONG), flip(9, LONG[1:]))
    assert all_of(record) == [*pairs[2:5], flip(8, LONG), flip(9, LONG[1:])]
    record.commit()


def test_pending_flips_share_the_input_of_their_run(tmp_path: Path) -> None:
    def put(record: store.Store, *pairs: Pair) -> None:
        record.waiting.add(pairs, [pair.id[:1] for pair in pairs])

    pairs = flips()
    with store.Store.create(tmp_path) as record:
        put(record, *pairs)
        record.commit()
        done = flip(7, LONG)
        put(record, flip(6, LONG), done)
        record.waiting.done(done)
    pairs.append(flip(6, LONG))
    with store.Store.open(tmp_path) as record:
        assert all_of(record) == pairs
        run_out_of_inputs(record, put, pairs)
        (last,) = all_of(record)[-1:]
        record.waiting.done(all_of(record)[-2])
        record.pairs.free()  # the input that has a number is gone: it gets another one
        put(record, flip(7, LONG))
        assert all_of(record) == [*pairs[2:5], flip(7, LONG), last]
    with store.Store.open(tmp_path) as record:
        record.pairs.remember()
        assert list(record.pairs.some([last.id]).values()) == [last.to_bytes()]
        record.pairs.free()
        assert record._database.rows("SELECT length(data) FROM inputs ORDER BY number") == [(1023,), (1024,)]


def test_pending_flips_share_the_input_of_their_run_in_a_fleet(tmp_path: Path) -> None:
    def put(record: store.Store, *pairs: Pair) -> None:
        record.pairs.add((pair.id, pair.id[:1], pair.to_bytes()) for pair in pairs)

    pairs = flips()
    with store.Store.create(tmp_path) as record:
        put(record, *pairs)
        record.commit()
        done = flip(7, LONG)
        put(record, flip(6, LONG), done)
        record.pairs.done(done.id)
    pairs.append(flip(6, LONG))
    with store.Store.open(tmp_path) as record:
        assert all_of(record) == pairs
        assert record.pairs.some([pair.id for pair in pairs]) == {pair.id: pair.to_bytes() for pair in pairs}
        run_out_of_inputs(record, put, pairs)
        (last,) = all_of(record)[-1:]
    with store.Store.open(tmp_path) as record:
        assert list(record.pairs.some([last.id]).values()) == [last.to_bytes()]


def test_a_fleets_record_remembers_what_a_campaign_of_one_does(tmp_path: Path) -> None:
    """So nothing is done twice if a fleet goes on with it once more."""
    one, other = (first_pair(name).but(id=name * 16) for name in (b"a", b"b"))
    with store.Store.create(tmp_path) as record:
        record.pairs.remember()
        record.pairs.done(b"c" * 16)
    with store.Store.open(tmp_path) as record:
        record.waiting.add([one, other], [b"1", b"2"])
        record.waiting.rerank(other, b"0")
        record.waiting.done(one, 7)
    with store.Store.open(tmp_path) as record:
        assert list(record.waiting.waiting_after(b"")) == [(b"0", other)]
        assert record.pairs.path_of(one.id) == 7


def test_who_stops_reading_may_do_so_after_the_end(tmp_path: Path) -> None:
    """So does a command at Ctrl-C: what iterates is thrown away when it gets to it."""
    with store.Store.create(tmp_path) as record:
        for number in range(1, 1001):
            record.add_test(row(number, number), True)
        assert len(list(record.tests())) == 1000
        left = record.tests()
        assert next(left).number == 1
    del left


def test_one_user_at_a_time(tmp_path: Path) -> None:
    with store.Store.create(tmp_path), pytest.raises(StorageError, match="another score-embed"):
        store.Store.open(tmp_path)
    with pytest.raises(UsageError, match="already is a campaign"):
        store.Store.create(tmp_path)


def test_no_campaign_and_damaged_campaign(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no campaign"):
        store.Store.open(tmp_path)
    (tmp_path / storage.FILE).write_bytes(b"this is not a database file at all" * 100)
    with pytest.raises(StorageError, match="damaged"):
        store.Store.open(tmp_path)


@pytest.mark.parametrize("part", [parts.PROGRAM, parts.PROGRESS, parts.SOURCES, parts.FLEET, parts.WITNESS], ids=str)
@pytest.mark.parametrize("text", ["{", "7", '{"name": 1, "seconds": "x", "totals": [], "root": {}}'])
def test_a_damaged_part_ends_in_one_message(tmp_path: Path, part: parts.Part[Any], text: str) -> None:
    recorded.write(tmp_path)
    with store.Store.open(tmp_path) as record:
        record._database._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (part.key, text))
    with store.Store.read(tmp_path) as record, pytest.raises(StorageError, match=f"damaged: {part.key}: ") as caught:
        summary.of(record)
    assert caught.value.where == str(tmp_path / storage.FILE)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("UPDATE bugs SET data = '{\"kind\": \"abort\"}'", "bugs"),
        ("UPDATE layouts SET objects = '{}'", "layouts"),
        ("DELETE FROM layouts", "layouts"),
        ("INSERT INTO witnessed VALUES (1, 'found', '{}')", "findings"),
        ("UPDATE meta SET value = '{\"strategy\": 5}' WHERE key = 'settings'", "settings"),
        ("UPDATE meta SET value = replace(value, 'unsat', 'unsatt') WHERE key = 'progress'", "progress"),
    ],
)
def test_a_damaged_row_ends_in_one_message(tmp_path: Path, change: str, what: str) -> None:
    recorded.write(tmp_path)
    with store.Store.open(tmp_path) as record:
        record._database._db.execute(change)
    with store.Store.read(tmp_path) as record, pytest.raises(StorageError, match=f"damaged: {what}: "):
        _ = record.get(parts.SETTINGS), findings.read(record)


def test_another_version_is_refused(tmp_path: Path) -> None:
    with store.Store.create(tmp_path) as record:
        record._database._db.execute("PRAGMA user_version = 99")
    with pytest.raises(StorageError, match="version 99"):
        store.Store.open(tmp_path)


def test_what_the_witness_has_left_is_counted_without_looking_at_all_tests(tmp_path: Path) -> None:
    choose = random.Random(4)
    with store.Store.create(tmp_path) as record:
        kept, paths, seen = {1}, set[int](), set[int]()
        for number in range(1, 200):
            is_new = choose.random() < 0.7
            record.add_test(row(number, number * 7919), is_new)
            if is_new:
                paths.add(number)
            if choose.random() < 0.2:
                record.add_coverage([1000 + number], number)
                kept.add(number)
            if (is_new or number in kept) and choose.random() < 0.5:
                record.put_witnessed(number, "lost" if number % 5 == 0 else "clean")
                seen.add(number)
        counts = record.witness_counts(len(paths))
    assert counts.kept_left == len(kept - seen)
    assert counts.paths_left == len(paths - kept - seen)


def test_a_large_record_is_gone_on_with_by_what_waits(tmp_path: Path) -> None:
    """Neither what is done nor all tests are looked at: SQLite says so of each statement."""
    with store.Store.create(tmp_path) as record:
        record.pairs.add([(bytes([n]) * 16, b"1", b"A") for n in range(9)])
        record.add_test(row(1, 5), True)
        record.commit(recorded.progress("time"))
    said: list[str] = []
    with store.Store.open(tmp_path) as record:
        record._database._db.set_trace_callback(said.append)
        record.pairs.free()
        record.pairs.waiting()
        list(record.waiting.unranked())
        list(record.pairs.owners())
        list(record.pairs.without_inputs())
        len(record.paths)
        record.witness_counts(1)
        record.found_by_witness()
        record.first_paths(0)
        record.unwitnessed_kept(16)
        record.commit()
        record._database._db.set_trace_callback(None)
        plans = {
            text: [step for *_, step in record._database.rows(f"EXPLAIN QUERY PLAN {text}")]
            for text in said
            if text.startswith(("SELECT", "UPDATE", "DELETE"))
        }
    assert len(plans) >= 11
    for text, steps in plans.items():
        whole = [step for step in steps if step == "SCAN done" or step.startswith("SCAN tests")]
        assert not whole or "LIMIT 0" in text, (text, steps)


def test_a_corpus_comes_and_goes_test_by_test(tmp_path: Path) -> None:
    def tests() -> Iterator[test_rows.TestRow]:
        for number in range(1, 50):
            if number == 40:
                assert len(list((tmp_path / "c").glob("*.bin"))) in (0, 20, 25), "written as they come"
            yield structs.replace(row(number, number), input=bytes([number // 2]) * 3)

    assert inputs.corpus(tests(), tmp_path / "c") == 25
    assert inputs.corpus(tests(), tmp_path / "c.tar") == 25
    with tarfile.open(tmp_path / "c.tar") as archive:
        packed = {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]
    assert packed == {path.name: path.read_bytes() for path in (tmp_path / "c").iterdir()}
    assert len(packed) == 25
    with pytest.raises(StorageError, match="cannot"):
        inputs.corpus(tests(), tmp_path / "c.tar" / "x.tar")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c", "c.tar"]


def test_a_program_that_is_put_anew_is_read_anew(tmp_path: Path) -> None:
    with store.Store.create(tmp_path) as record:
        record.put(parts.SOURCES, recorded.source_map())
        assert record.sources() == recorded.source_map()
        record.put(parts.SOURCES, structs.replace(recorded.source_map(), root="/elsewhere"))
        assert record.sources().root == "/elsewhere"
