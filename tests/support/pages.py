"""Records made by hand whose reports have something of everything, or a great deal of it, or mean harm."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import recorded
from msgspec import structs

from score_embed.contract.coverage import AND, OR, Condition, Decision
from score_embed.results.coverage import Direction
from score_embed.results.fleet import ClientFigures, FleetFigures
from score_embed.results.parts import FLEET, PROGRESS, SOURCES, TIMELINE, VECTORS, Moment, Timeline
from score_embed.results.sourcemap import Position, SourceMap
from score_embed.results.store import Store
from score_embed.results.test_rows import TestRow
from score_embed.results.testcase import Named
from score_embed.results.vectors import Brought, VectorState

SECONDS = 40
FILES, LINES = 10, 1000  # of a large program
EACH = 4  # lines to a branch
BYTES = (Named("input", 0, 64, "bytes"),)
EVIL = "x\x1b]0;owned\x07\x1b[2J\u202e*/\n#error owned\n\\\n??/\n/*<script>alert(1)</script>[/red]\r\x9b]]>\"';"
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def decided(record: Store) -> None:
    """Give it three decisions, two of them at the same line: of the first, one condition has not decided as true."""
    x, y = Condition(16, "x > 0"), Condition(17, "y")
    four = Condition(0, "sizeof(int) == 4", True)
    decisions = (
        Decision(recorded.A, 2, "f", (0, 1, AND), (x, y)),
        Decision(recorded.A, 2, "f", (0, 1, OR), (Condition(18, "z"), Condition(19, "x > 0"))),
        Decision(recorded.A, 3, "f", (0, 1, AND), (four, y)),
    )
    record.put(SOURCES, structs.replace(recorded.source_map(), decisions=decisions))
    vectors = ((0, "F-", 1), (0, "TF", 1), (1, "T-", 1), (1, "FF", 2), (1, "FT", 2), (2, "TT", 2), (2, "TF", 1))
    brought = (Brought(1, (0, 1, 2, 6), (0,), False), Brought(2, (3, 4, 5), (1,), False))
    record.put(VECTORS, VectorState(vectors, brought, 2))


def wide(folder: Path) -> None:
    """Of a program with a long name, and a decision of 70 conditions: nobody can break its vectors between words."""
    name = "a_function_whose_name_is_long_and_says_what_it_does"
    recorded.write(folder, "exhausted", {"name": name, "within": ["payload ≤ 16 bytes"]})
    conditions = tuple(Condition(16 + number, f"parser->buffers[parser->at].pointer[{number}]==0x{number:08x}") for number in range(70))
    tree: tuple[int | str, ...] = (0,)
    for number in range(1, 70):
        tree += (number, OR)
    vectors = [(0, "F" * 70, 1), *((0, "F" * number + "T" + "-" * (69 - number), 2) for number in range(70))]
    with Store.open(folder) as record:
        decision = Decision(recorded.A, 2, "f", tree, conditions)
        record.put(SOURCES, structs.replace(recorded.source_map(), decisions=(decision,)))
        record.put(VECTORS, VectorState(tuple(vectors), (Brought(1, (0, 1, 2, 6), (0,), False),), 2))


def full(folder: Path) -> None:
    """The record of `recorded.py`, with a fleet, a time behind it, and vectors."""
    recorded.write(folder, "time")
    with Store.open(folder) as record:
        moments = [Moment(at / 2, 5 * at, 3 * at, min(4, at), at // 30) for at in range(2 * SECONDS)]
        record.put(TIMELINE, Timeline(moments))
        clients = tuple(ClientFigures(f"client {n}", 100 + n, 40.0, 38.0 - n) for n in range(8))
        decided(record)
        record.put(FLEET, FleetFigures(clients, {"Req": 12, "Ack": 9, "Results": 80}, 820, 3, 40.0))


def large(folder: Path) -> None:
    """Of 10,000 lines, a million tests and some thousand directions, two thirds of them taken."""
    folder.mkdir()
    recorded.write(folder, "time")
    sites: dict[int, Position] = {}
    directions: dict[int, Direction] = {}
    texts: dict[str, tuple[str, ...]] = {}
    for number in range(FILES):
        file = f"source/part_{number}.c"
        texts[file] = tuple(
            f"    if (buffer[{line}] == '\\x{line % 256:02x}') state = {line};" for line in range(LINES)
        )
        for line in range(1, LINES + 1, EACH):
            site, function = 1000 + len(sites), f"function_{number}_{line // 40}"
            sites[site] = Position(file, line, function)
            for name in ("false", "true"):
                directions[len(directions)] = Direction(site, file, line, function, name)
    entries = tuple({position.function: position for position in sites.values()}.values())
    with Store.open(folder) as record:
        record.put(SOURCES, SourceMap("/src", sites, directions, entries, 0, (), (), texts))
        for test in range(5, 2000):
            record.add_test(TestRow(test, bytes(64), "return", 0, test, "new", "", BYTES, "out"), True)
            record.add_coverage((index for index in (2 * test, 2 * test + 1) if index % 3), test)
        full_time = [Moment(15.0 * at, 4167 * at, 4000 * at, min(3000, 40 * at), 0) for at in range(240)]
        record.put(TIMELINE, Timeline(full_time))
        progress = record.get(PROGRESS)
        assert progress is not None
        progress.totals.runs, progress.totals.paths = 10**6, 960_000
        record.put(PROGRESS, structs.replace(progress, seconds=3600.0))


def hostile(folder: Path, monkeypatch: pytest.MonkeyPatch, evil: str = EVIL) -> None:
    """With texts that would do something everywhere they were not escaped."""
    monkeypatch.setattr(recorded, "A", evil)
    sites = {site: Position(evil, at.line, evil) for site, at in recorded.SITES.items()}
    monkeypatch.setattr(recorded, "SITES", sites)
    monkeypatch.setattr(recorded, "TEXT_A", (evil, evil, evil))
    objects = (Named(evil, 0, 4, "signed"), Named("x", -3, 2**70, "bytes"))
    tests = [
        structs.replace(test, verdict=verdict, place=evil, objects=objects, output=evil)
        for test, verdict in zip(recorded.TESTS, ("return", evil, "assertion", "return"), strict=True)
    ]
    monkeypatch.setattr(recorded, "TESTS", tests)
    bugs = [structs.replace(bug, kind=evil, file=evil, function=evil, stack=(evil, evil)) for bug in recorded.BUGS]
    monkeypatch.setattr(recorded, "BUGS", bugs)
    program = {"name": evil, "board": evil, "strategy": evil, "began": evil, "sources": ["a.c"], "within": [evil]}
    recorded.write(folder, program=program)
