"""The second witness without processes: reports of gcc's sanitizers read, judged, and put beside our own bugs."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from score_embed.results.bugs import Bug, Place
from score_embed.results.sourcemap import Position, SourceMap
from score_embed.results.witnessed import Finding, Found, alike, all_bugs
from score_embed.witness.reports import ADDRESS, UNDEFINED, Judge, flags, read

REPORTS = Path(__file__).with_name("sanitizer_reports")
PROGRAM = (0x400000, 0xA9BD98)

def judge() -> Judge:
    sites = {1: Position("p.c", 11, "copy"), 2: Position("p.c", 14, "main")}
    return Judge(SourceMap("/tmp/w", sites, {}, (), 0, (), (), {}), ["native.c"])


def report(name: str) -> str:
    return (REPORTS / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "kind", "place", "stack", "witness"),
    [
        ("bounds", "out-of-bounds", "p.c:16", ("main",), UNDEFINED),
        ("misaligned", "misaligned", "p.c:17", ("main",), UNDEFINED),
        ("division", "division-by-zero", "p.c:18", ("main",), UNDEFINED),
        ("overflow", "overflow", "p.c:19", ("main",), UNDEFINED),
        ("negation", "overflow", "p.c:20", ("main",), UNDEFINED),
        ("shift", "shift-range", "p.c:21", ("main",), UNDEFINED),
        ("array-length", "array-length", "p.c:22", ("main",), UNDEFINED),
        ("unreachable", "unreachable", "p.c:23", ("main",), UNDEFINED),
        ("stack", "out-of-bounds", "p.c:12", ("fill2", "main"), ADDRESS),
        ("global", "out-of-bounds", "p.c:10", ("copy", "main"), ADDRESS),
        ("heap", "out-of-bounds", "p.c:10", ("copy", "main"), ADDRESS),
        ("memcpy", "out-of-bounds", "p.c:11", ("fill", "main"), ADDRESS),
        ("negative-size", "out-of-bounds", "p.c:11", ("fill", "main"), ADDRESS),
        ("overlap", "overlapping-copy", "p.c:29", ("main",), ADDRESS),
        ("after-free", "use-after-free", "p.c:30", ("main",), ADDRESS),
        ("double-free", "double-free", "p.c:31", ("main",), ADDRESS),
        ("bad-free", "invalid-free", "p.c:32", ("main",), ADDRESS),
        ("after-scope", "use-after-scope", "p.c:33", ("main",), ADDRESS),
        ("after-return", "use-after-return", "p.c:34", ("main",), ADDRESS),
        ("null", "null-dereference", "p.c:35", ("main",), ADDRESS),
        ("read-only", "invalid-memory-access", "p.c:36", ("main",), ADDRESS),
        ("wild", "invalid-memory-access", "p.c:37", ("main",), ADDRESS),
    ],
)
def test_a_report_is_read(name: str, kind: str, place: str, stack: tuple[str, ...], witness: str) -> None:
    found = judge().finding(report(name), PROGRAM)
    assert found is not None
    assert (found.kind, str(found.place), found.place.stack, found.witness) == (kind, place, stack, witness)


def test_one_harness_among_several_is_main() -> None:
    """Which number it has among those of its image says nothing of the bug: a fingerprint is made of these names."""
    text = report("global")
    frame = next(line for line in text.splitlines() if " in main " in line)
    inner = frame.replace(" in main ", " in score_entry_6 ")
    found = judge().finding(text.replace(frame, f"{inner}\n{frame}"), PROGRAM)
    assert found is not None
    assert found.place.stack == ("copy", "main")


def test_a_recursion_s_stack_has_each_function_once() -> None:
    found = judge().finding(report("recursion"), PROGRAM)
    assert found is not None
    assert (found.kind, found.place.function, found.place.stack) == ("stack-overflow", "deep", ("deep",))


@pytest.mark.parametrize("text", ["", "hello\n", "p.c:3: warning: runtime error\n"])
def test_other_text_is_no_report(text: str) -> None:
    assert read(text) is None
    assert judge().finding(text, PROGRAM) is None


@pytest.mark.parametrize("name", ["device", "no-memory"])
def test_what_is_no_bug(name: str) -> None:
    """A register of a device at a constant address; an allocation that is refused."""
    assert judge().finding(report(name), PROGRAM) is None


def test_a_device_s_address_within_the_program_is_an_address_of_the_program() -> None:
    assert judge().finding(report("device"), (0x40000000, 0x40020000)) is not None


def test_objects_of_a_harness_have_no_length_if_nobody_says_it() -> None:
    text = report("harness")
    assert "'text' defined in '<entry>" in text
    assert judge().finding(text.replace("'text'", "'text_of_unknown_size'"), PROGRAM) is None
    found = judge().finding(text, PROGRAM)
    assert found is not None
    assert (found.kind, str(found.place)) == ("out-of-bounds", "p.c:11")


def test_what_writes_inputs_is_not_the_user_s() -> None:
    """A stub that is given a wild pointer has the bug, not the function of ours by which it writes there."""
    ours = "    #0 0x4e2b01 in __score_bytes /tmp/score-embed-xw2y9xfj/f5afb11de0fd4141a6e777407a2e5948.c:344\n"
    head, _, stack = report("wild").partition("    #0")
    found = judge().finding(f"{head}{ours}    #0{stack}", PROGRAM)
    assert found == judge().finding(report("wild"), PROGRAM)


def test_a_report_that_was_cut_off_has_no_place() -> None:
    found = judge().finding(report("heap").splitlines()[1] + "\n", PROGRAM)
    assert found is not None
    assert (found.kind, str(found.place)) == ("out-of-bounds", "unknown place")


def test_the_sanitizers_follow_the_checks() -> None:
    assert flags(frozenset())[0] == "-fsanitize=address,alignment,vla-bound,unreachable"
    assert flags(frozenset({"overflow"}))[0].endswith(",signed-integer-overflow")
    default = flags(frozenset({"null", "bounds", "division"}))[0]
    assert "bounds" in default
    assert "integer-divide-by-zero" in default
    assert "overflow" not in default
    assert "shift" not in default


# Beside our own bugs ---------------------------------------------------------------------------------------------


def found(kind: str, line: int, test: int = 5, verdict: str = "return", place: str = "", function: str = "f") -> Found:
    at = Place("a.c", line, function, (function, "main"))
    return Found(structs.replace(Finding.at(at, kind, ADDRESS), confirmed=True), test, {"x": 1}, verdict, place)


def ours(kind: str, line: int, test: int = 3, function: str = "f") -> Bug:
    return Bug.at(Place("a.c", line, function, (function, "main")), kind, {"x": 2}, test, confirmed=True)


def test_a_finding_of_its_own_is_a_bug() -> None:
    own = ours("assertion", 9, test=7)
    bugs = all_bugs([own], [found("out-of-bounds", 4), found("out-of-bounds", 4, test=6), found("misaligned", 4)])
    assert [(bug.kind, bug.test, bug.count, bug.witness) for bug in bugs] == [
        ("out-of-bounds", 5, 2, ADDRESS),
        ("misaligned", 5, 1, ADDRESS),
        ("assertion", 7, 1, ""),
    ]


def test_a_call_of_a_null_pointer_is_one_bug() -> None:
    """Who walks the stack from there misses the caller: its frame is taken for the callee's."""
    place = Place("a.c", 4, "f", ("f", "g", "main"))
    own = Bug.at(place, "null-dereference", {"x": 2}, 3, confirmed=True)
    caller = Finding.at(Place("a.c", 9, "g", ("g", "main")), "null-dereference", ADDRESS)
    one = Found(structs.replace(caller, confirmed=True), 3, {"x": 1}, "null-dereference", str(place))
    assert all_bugs([own], [one]) == [own]
    elsewhere = structs.replace(one, finding=structs.replace(one.finding, stack=("h", "main"), function="h"))
    assert len(all_bugs([own], [elsewhere])) == 2
    assert len(all_bugs([own], [structs.replace(one, verdict="return", place="")])) == 2  # another test


@pytest.mark.parametrize(
    "one",
    [
        found("out-of-bounds", 4),  # another test, the same line
        found("misaligned", 4, test=3, verdict="out-of-bounds", place="a.c:4"),  # the test ended at this line
        found("out-of-bounds", 5, test=3, verdict="out-of-bounds", place="a.c:4"),  # an expression of two lines
    ],
)
def test_what_we_found_too_is_one_bug(one: Found) -> None:
    own = ours("out-of-bounds", 4)
    assert all_bugs([own], [one]) == [own]


@pytest.mark.parametrize(
    "one",
    [
        found("misaligned", 4),  # another kind
        found("out-of-bounds", 5),  # another line, in a test that ended well
        found("out-of-bounds", 5, test=3, verdict="out-of-bounds", place="a.c:4", function="g"),
    ],
)
def test_what_is_another_bug_stays(one: Found) -> None:
    assert len(all_bugs([ours("out-of-bounds", 4)], [one])) == 2


def test_a_fault_without_a_place_is_that_of_its_test() -> None:
    """Of a stack that was overwritten, say: nothing leads back to who did it."""
    own = ours("stack-overflow", 4)
    lost = Finding.at(Place("", 0, "", ()), "invalid-memory-access", ADDRESS)
    same = Found(lost, 3, {"x": 1}, "stack-overflow", "a.c:4")
    assert all_bugs([own], [same]) == [own]
    assert len(all_bugs([own], [structs.replace(same, verdict="return", place="")])) == 2
    assert len(all_bugs([own], [structs.replace(same, finding=structs.replace(lost, kind="misaligned"))])) == 2


def test_kinds_of_one_fault_are_alike() -> None:
    assert alike("out-of-bounds", "invalid-memory-access")
    assert alike("null-dereference", "invalid-memory-access")
    assert not alike("null-dereference", "out-of-bounds")
    assert not alike("overflow", "out-of-bounds")
