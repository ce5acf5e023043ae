"""A campaign of one is a fleet of one without sockets: both keep the same books, so both leave the same record.

What depends on time, and what only a fleet has (clients, messages), is left out. In rounds a client runs what lies
below one pair before the others that wait with it, so the order of its tests is another one, and nothing else.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from runner import explore_files

from score_embed import config
from score_embed.campaign import campaign
from score_embed.campaign.opening import resumed_settings
from score_embed.fleet.process import hosting
from score_embed.results import summary
from score_embed.results.store import Store

ROOT = Path(__file__).parents[2]
HANGS = """#include "score.h"
int main(void) { int x; SYM_INT(x); if (x == 77) for (;;) ; return x > 5; }
"""
TWO_SIGNALS = """#include "score.h"
#include <signal.h>
int main(void) {
    int x; SYM_INT(x);
    int which = x == 3 ? SIGUSR1 : x == 4 ? SIGUSR2 : 0;
    if (which) raise(which);
    return 0;
}
"""
DIES_FIRST = """#include "score.h"
#include <stdlib.h>
int main(void) {
    unsigned char x; SYM_UCHAR(x);
    SCORE_ASSUME(x != 9);
    unsigned char s[4]; SYM_BYTES(s, 4);
    return s[x & 3] == 7 ? s[0] == 1 : x == s[1];
}
"""
ELSEWHERE = """#include "score.h"
#include <string.h>
int main(void) {
    int x, y, n = 0;
    const char *text = strerror(2);
    SYM_INT(x);
    SYM_INT(y);
    if (x > y) n += text[0];
    if (x + y == 77) n += text[1];
    if (x * 3 == y - 5) n += text[2];
    return n;
}
"""
PROGRAMS: dict[str, tuple[str, dict[str, Any]]] = {
    "questions": ("examples/max3.c", {}),
    "bytes": ("tests/programs/parser.c", {"strategy": "bfs"}),
    "floats": ("tests/programs/float_values.c", {"strategy": "random", "seed": 5}),
    "bugs": ("tests/programs/asserts.c", {"strategy": "exe"}),
    "two bugs at one place": (TWO_SIGNALS, {}),
    "hang": (HANGS, {"max_branches": 20_000}),
    "assumption, symbolic index": (DIES_FIRST, {"strategy": "coverage"}),
    "accesses that nobody can check": (ELSEWHERE, {"strategy": "dfs"}),
    "notes, so drained": ("tests/programs/loops.c", {"loop_bound": 2}),
}
# What every Python that starts imports: by how a client is to run its tests.
_CLIENTS = """
import sys
if "client" in sys.orig_argv:
    from score_embed.fleet.process import executor
"""
HOW = {
    "one by one": f"{_CLIENTS}    executor.ClientRounds.go = lambda *arguments: None\n",
    "in rounds": "",
    "in rounds with little room": f"{_CLIENTS}    most = executor._most\n"
    "    executor._most = lambda: most()._replace(pairs=4, waiting=64)\n",
    "in short rounds": f"{_CLIENTS}    executor.MAX_ROUND = 2\n",
    "in one round": f"{_CLIENTS}    from score_embed.campaign import rounds\n    rounds._SECONDS = 60\n",
}
TABLES = {"tests": "*", "paths": "*", "coverage": "*", "bugs": "*", "pairs": "id, data, owner"}


def settings(source: Path, out: Path, options: dict[str, Any]) -> config.Settings:
    return config.Settings(sources=(source,), out=out, no_witness=True, **options)


def said(told: dict[str, Any], folder: Path) -> dict[str, Any]:
    """All that does not depend on time, and that a single campaign has."""
    found = {key: value for key, value in told.items() if key not in ("seconds", "memory", "fleet")}
    found["solver"] = {key: value for key, value in found["solver"].items() if "seconds" not in key}
    found["link"] = {key: found["link"][key] for key in ("crc_errors", "reruns")}
    with closing(sqlite3.connect(folder / "campaign.db")) as db:
        for table, columns in TABLES.items():
            found[table] = sorted(db.execute(f"SELECT {columns} FROM {table}").fetchall())
    for part in ("tests", "bugs"):
        found[f"files of {part}"] = {path.name: path.read_bytes() for path in (folder / part).iterdir()}
    return found


def in_any_order(told: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What does not depend on the order of tests either."""
    found = {key: told[key] for key in ("stopped", "within", "runs", "paths", "unchecked", "incomplete", "coverage")}
    found["bugs"] = sorted((bug["kind"], bug["file"], bug["line"], bug["confirmed"]) for bug in told["bugs"])
    with closing(sqlite3.connect(folder / "campaign.db")) as db:
        for table, columns in {"tests": "verdict, code, path", "coverage": "number", "pairs": "id"}.items():
            found[table] = sorted(db.execute(f"SELECT {columns} FROM {table}").fetchall())
    return found


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("how", HOW)
def test_a_fleet_of_one_says_what_a_campaign_says(
    name: str, how: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text, options = PROGRAMS[name]
    source = ROOT / text
    if "\n" in text:
        source = tmp_path / "p.c"
        source.write_text(text, encoding="utf-8")
    # In a process of its own, as the client is: what Z3 answers depends on what it was asked before.
    words = [word for key, value in options.items() for word in (f"--{key.replace('_', '-')}", str(value))]
    alone = explore_files(tmp_path, [source], "--no-witness", *words)
    (tmp_path / "sitecustomize.py").write_text(HOW[how])
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
    fleet = hosting.run(settings(source, tmp_path / "fleet", {**options, "clients": 1}), None)
    assert capfd.readouterr().out == ""
    alike = said if how == "one by one" else in_any_order
    told = json.loads(summary.text(fleet.summary))
    assert (alone.code, alike(alone.summary, alone.folder)) == (fleet.exit_code, alike(told, fleet.folder))
    assert alone.summary["stopped"] == ("drained" if "drained" in name else "exhausted")
    assert [bug["confirmed"] for bug in alone.summary["bugs"]] == [True] * len(alone.summary["bugs"])
    assert bool(alone.summary["bugs"]) == ("bug" in name or name == "hang")
    assert bool(alone.summary["unchecked"]) == ("nobody can check" in name)


def test_each_session_runs_as_many_tests_as_it_was_told(tmp_path: Path) -> None:
    """The path of a flip that a later session asks is run once more: that is no test."""
    source = ROOT / "examples" / "max3.c"
    plain = settings(source, tmp_path / "o", {"max_tests": 1})
    found = campaign.run(plain).summary
    assert (found.runs, found.stopped) == (1, "max-tests")
    again = 0
    for runs in range(2, 7):
        with Store.open(tmp_path / "o") as record:
            found = campaign.run(resumed_settings(record, plain), record).summary
        assert found.runs == runs
        again = max(again, found.re_asked)
    assert again
    assert found.paths == 6
    with Store.open(tmp_path / "o") as record:
        assert campaign.run(resumed_settings(record, plain), record).summary.stopped == "exhausted"


def test_nothing_left_is_said_though_no_more_tests_were_wanted(tmp_path: Path) -> None:
    source = ROOT / "tests" / "programs" / "parser.c"
    assert campaign.run(settings(source, tmp_path / "o", {"max_tests": 45})).summary.stopped == "exhausted"
