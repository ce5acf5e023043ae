"""A campaign's record made by hand, with everything in it that reports must get right."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import convert

from score_embed.config import Settings
from score_embed.explore.pair import ROOT, Pair
from score_embed.results.bugs import Bug
from score_embed.results.coverage import Direction
from score_embed.results.parts import PROGRAM, SETTINGS, SOURCES, VERSIONS, Program, Progress
from score_embed.results.sourcemap import Position, SourceMap
from score_embed.results.store import Store
from score_embed.results.test_rows import TestRow
from score_embed.results.testcase import Named

A, B = "src/a b.c", "../other/ü.c"
FOLDER = "/home/me/pro ject"
SITES = {
    16: Position(A, 2, "f"),
    17: Position(A, 3, "f"),
    18: Position(B, 2, "main"),
    19: Position(A, 1, "f"),
    20: Position(B, 1, "main"),
    21: Position("<entry>", 1, "main"),
}
NAMES = {16: ("false", "true"), 17: ("case 1", "case 5 ... 7", "default"), 18: ("false", "true"), 21: ("true",)}
TEXT_A = ("int f(int x) {", "\tif (x > '\x1b')", "    switch (x) {")
TEXT_B = ("int main(void)", "  while (x<y)")


def source_map() -> SourceMap:
    places = [(site, name) for site, names in NAMES.items() for name in names]
    directions = {
        index: Direction(site, SITES[site].file, SITES[site].line, SITES[site].function, name)
        for index, (site, name) in enumerate(places)
    }
    notes = (("function 'g' is not instrumented: asm", A, 9),)
    texts = {A: TEXT_A, B: TEXT_B}
    return SourceMap(FOLDER, SITES, directions, (SITES[19], SITES[20]), 0, notes, (), texts)


def progress(stopped: str | None = "drained") -> Progress:
    by = {"domain": 3, "equality": 0, "model": 0, "enumerate": 0, "cache": 0, "smt": 2}
    plain = {
        "stopped": stopped,
        "totals": {"runs": 4, "mispredicted": 1, "paths": 3, "conditions": 8, "longest": 5},
        "notes": [["the first test took different paths when run again", "", 0, 1]],
        "seconds": 1.5,
        "link": {"bytes_in": 4000, "bytes_out": 400, "crc_errors": 1, "reruns": 2},
        "memory": {"host_rss": 1000, "target": 0},
        "queue": 3,
        "tally": {
            "notes": [["symbolic address", 17, 3]],
            "unflipped": [[2, "unsat", 1], [4, "mispredicted", 2], [6, "unsat", 7]],
            "divergences": 0,
            "concretized": 3,
            "forks": [[17, 5], [18, 1]],
            "solver": {
                "sat": 3,
                "unsat": 1,
                "unknown": 1,
                "seconds": 0.75,
                "by": by,
                "seconds_by": {"domain": 0.25, "smt": 0.5},
            },
        },
    }
    return convert(plain, Progress)


X = Named("x", 0, 4, "signed")
TESTS = (
    TestRow(1, b"\x05\0\0\0", "return", 0, 0x11, "new", "", (X,), "plain"),
    TestRow(2, b"\xff\xff\xff\xff", "exit", 3, 0x22, "new", "", (X,), "tab\tesc\x1b[31m \x07\ufffe ü]]>"),
    TestRow(3, b"\0\0\0\0", "division-by-zero", 8, 0x33, "new", f"{A}:3", (X,), ""),
    TestRow(4, b"\1\0\0\0", "return", 0, 0x11, "mispredicted", "", (X,), ""),
)
BUGS = (
    Bug("division-by-zero", A, 3, "f", ("f", "main"), {"x": 0}, 3, 2, True),
    Bug("hang", "", 0, "", (), {}, 4, 1, False),
)


def write(folder: Path, stopped: str | None = "drained", program: Mapping[str, Any] | None = None) -> None:
    """Make the record in `folder`."""
    with Store.create(folder) as record:
        record.put(SETTINGS, Settings())
        facts: dict[str, Any] = {
            "name": "my prog",
            "board": "native",
            "strategy": "dfs",
            "seed": 0,
            "began": "2030-01-02T03:04:05Z",
        }
        facts |= {"entry": None, "sources": [B, A]}
        record.put(PROGRAM, convert({**facts, **(program or {})}, Program))
        record.put(SOURCES, source_map())
        record.put(VERSIONS, {"score-embed": "0.1.0", "compiler": "cc 1"})
        for test in TESTS:
            record.add_test(test, test.outcome == "new")
        record.add_coverage([0, 1, 5], 1)
        record.add_coverage([3], 2)
        for bug in BUGS:
            record.put_bug(bug)
        record.pairs.add([(b"w", b"1", Pair(ROOT, b"", 1, 1, 1, 0, 18, range(6, 7)).to_bytes())])
        record.commit(progress(stopped))
