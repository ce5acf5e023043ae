"""`score-embed report` as a user meets it: on finished, killed and running campaigns, and on what is none."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import recorded
import records
from runner import BOARDS, explore, score_embed

from score_embed.results.store import VERSION

# Two files in different folders, names and output that are not ASCII, a bug, sides that no input takes.
FILES = {
    "fw/main prog.c": r"""
#include <stdio.h>
#include "score.h"
#include "lib/part.h"
int main(void)
{
    unsigned char b[2];
    SYM_BYTES(b, 2);
    printf("\033[31m \x01 ü \xff]]> %d\n", b[0] & 1);
    if (b[0] > 100 && b[0] < 50)
        return 9;
    return part(b[0], b[1]);
}
""",
    "fw/lib/part.h": "int part(int a, int b);\n",
    "fw/lib/part.c": r"""
#include "part.h"
static int check(int a, int b)
{
    switch (a) {
    case 1: return 1;
    case 300: return 2;
    default: break;
    }
    return 100 / (b - 7);
}
int part(int a, int b) { return b == 7 || a < 4 ? check(a, b) : 0; }
""",
}
SOURCES = ("fw/main prog.c", "fw/lib/part.c")

ENDLESS = """
#include "score.h"
int main(void)
{
    unsigned char b[64];
    int n = 0;
    SYM_BYTES(b, sizeof b);
    for (unsigned i = 0; i < sizeof b; i++)
        if (b[i] == 'a' + i)
            n++;
    return n == 70;
}
"""


@pytest.fixture(scope="module", params=BOARDS)
def campaign(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("my projects") / "ü"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    done = score_embed("run", "--board", request.param, "--out", "o ut", *SOURCES, "--", "-Ifw", cwd=folder)
    assert done.returncode == 1, done.stdout + done.stderr
    (folder / "score-run.txt").write_text(done.stdout, encoding="utf-8")
    return folder


def report(folder: Path, *options: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = score_embed("report", *options, cwd=folder, deadline=60)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def line_of(name: str, part: str) -> int:
    return next(n for n, text in enumerate(FILES[name].splitlines(), 1) if part in text)


def test_text(campaign: Path) -> None:
    shown = report(campaign, "o ut").stdout
    at = line_of("fw/lib/part.c", "100 /")
    for part in (
        f"fw/lib/part.c:{at}: error: an integer is divided by zero in check: b = ",
        "return 100 / (b - 7);",
        "called by part, main",
        "score-embed replay 'o ut' ",
        f"fw/main prog.c:{line_of('fw/main prog.c', '> 100')} in main: if (b[0] > 100 && b[0] < 50)",
        "never true: impossible on ",
        "never case 300: ",
        "exhausted",
        "domain",
        "bytes received",
    ):
        assert part in shown, shown
    assert "\x1b" not in shown
    printed = (campaign / "score-run.txt").read_text(encoding="utf-8")
    assert "\x1b" not in printed
    bug = next(line for line in shown.splitlines() if "[division-by-zero]" in line)
    assert bug.strip() in printed  # both commands say it with the same words


def test_json_is_the_summary(campaign: Path) -> None:
    found = json.loads(report(campaign, "o ut", "--json").stdout)
    assert found == json.loads((campaign / "o ut" / "summary.json").read_text(encoding="utf-8"))


def test_the_record_is_enough(campaign: Path, tmp_path: Path) -> None:
    (tmp_path / "only").mkdir()
    for name in ("campaign.db", "campaign.sums"):
        shutil.copyfile(campaign / "o ut" / name, tmp_path / "only" / name)
    here, there = report(tmp_path, "only").stdout, report(campaign, "o ut").stdout
    assert (
        here.replace("only", "o ut").split()
        == there.replace("'o ut'", "o ut").replace("'o ut/", "o ut/").replace("bin'", "bin").split()
    )


def test_files(campaign: Path) -> None:
    report(campaign, "o ut", "--lcov", "a.info", "--junit", "b.xml", "--sarif", "c.sarif")
    info = (campaign / "a.info").read_text(encoding="utf-8")
    assert [line for line in info.splitlines() if line.startswith("SF:")] == [
        f"SF:{campaign / name}" for name in sorted(SOURCES)
    ]
    suite = ET.parse(campaign / "b.xml").getroot()[0]
    assert len(suite.findall("testcase")) == int(suite.get("tests") or 0) > 2
    (failure,) = suite.findall("testcase/failure")
    assert failure.get("type") == "division-by-zero"
    (run,) = json.loads((campaign / "c.sarif").read_text(encoding="utf-8"))["runs"]
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "fw/lib/part.c", "uriBaseId": "SRCROOT"}
    assert place["region"]["startLine"] == line_of("fw/lib/part.c", "100 /")
    assert [
        step["location"]["logicalLocations"][0]["name"]
        for step in result["codeFlows"][0]["threadFlows"][0]["locations"]
    ] == ["main", "part", "check"]
    caller = result["stacks"][0]["frames"][2]["location"]["physicalLocation"]["artifactLocation"]["uri"]
    assert caller == "fw/main%20prog.c"
    assert not list(campaign.glob(".*"))  # nothing half written is left


@pytest.mark.skipif(not shutil.which("genhtml"), reason="no lcov")
def test_genhtml_accepts_the_tracefile(campaign: Path) -> None:
    report(campaign, "o ut", "--lcov", "a.info")
    words = ["genhtml", "--branch-coverage", "--output-directory", "html", "a.info"]
    done = subprocess.run(words, cwd=campaign, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in done.stderr.lower()
    found = json.loads((campaign / "o ut" / "summary.json").read_text(encoding="utf-8"))["coverage"]
    assert f"{found['branches_covered']} of {found['branches_total']} branches" in done.stdout


def test_the_way_into_a_debugger_from_an_entry(tmp_path: Path) -> None:
    """There is no main that reads inputs: `new` writes one, and it takes what was recorded."""
    (tmp_path / "d.c").write_text(
        "int d(const int *a, unsigned char b) { return *a == 1000 && b == 7 ? 100 / (b - 7) : 0; }\n"
    )
    assert score_embed("run", "--entry", "d", "--out", "o", "d.c", cwd=tmp_path).returncode == 1
    said = report(tmp_path, "o").stdout
    found = re.findall(
        r"in a debugger: build what `score-embed new d …` writes, then (SCORE_INPUT=\S+ \./a\.out)", said
    )
    assert score_embed("new", "d", "d.c", cwd=tmp_path).returncode == 0
    include = Path(__file__).parents[2] / "runtime" / "include"
    subprocess.run(["gcc", "-I", str(include), "d_harness.c"], cwd=tmp_path, check=True, timeout=60)
    codes = {
        subprocess.run(["sh", "-c", f"exec env {command}"], cwd=tmp_path, timeout=60, check=False).returncode
        for command in found
    }
    assert -signal.SIGFPE in codes, (found, codes)


def start(folder: Path) -> subprocess.Popen[str]:
    """A campaign that has committed its first tests and goes on."""
    (folder / "p.c").write_text(ENDLESS, encoding="utf-8")
    words = [sys.executable, "-m", "score_embed.cli.main", "run", "--out", "o", "p.c"]
    running = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(10, folder, running)
    return running


def wait_for(tests: int, folder: Path, running: subprocess.Popen[str]) -> None:
    """Until so many are committed."""
    deadline = time.monotonic() + 60
    while count_tests(folder / "o") < tests:
        assert time.monotonic() < deadline
        assert running.poll() is None
        time.sleep(0.05)


def count_tests(folder: Path) -> int:
    if not (folder / "campaign.db").exists():
        return 0
    db = sqlite3.connect(f"file:{folder}/campaign.db?mode=ro", uri=True, timeout=10)
    try:
        (count,) = db.execute("SELECT count(*) FROM tests").fetchone()
        return int(count)
    except sqlite3.OperationalError:
        return 0
    finally:
        db.close()


def test_running_then_killed(tmp_path: Path) -> None:
    running = start(tmp_path)
    try:
        first = json.loads(report(tmp_path, "o", "--json").stdout)
        assert first["stopped"] == "running"
        assert first["runs"] == first["paths"] + first["redundant"] + first["mispredicted"] >= 10
        assert "it is running now" in report(tmp_path, "o", "--junit", "j.xml").stdout + report(tmp_path, "o").stdout
        wait_for(first["runs"] + 1, tmp_path, running)
        assert json.loads(report(tmp_path, "o", "--json").stdout)["runs"] > first["runs"]  # and it was not disturbed
    finally:
        running.kill()
        running.communicate(timeout=60)
    killed = json.loads(report(tmp_path, "o", "--json").stdout)
    assert killed["stopped"] == "killed"
    assert killed["runs"] == count_tests(tmp_path / "o")
    assert not (tmp_path / "o" / "summary.json").exists()
    shown = report(tmp_path, "o").stdout
    assert "its process was killed" in shown
    assert "score-embed run --resume o" in shown
    assert "a test for it is known, but was not run" in shown or killed["coverage"]["branches_covered"] > 2
    assert score_embed("run", "--resume", "o", "--max-tests", "5", cwd=tmp_path).returncode == 0
    again = json.loads(report(tmp_path, "o", "--json").stdout)
    assert (again["stopped"], again["runs"]) == ("max-tests", killed["runs"] + 5)
    assert again["link"]["bytes_in"] > killed["link"]["bytes_in"] > 0  # of all sessions


def test_interrupted(tmp_path: Path) -> None:
    running = start(tmp_path)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)
    found = json.loads(report(tmp_path, "o", "--json").stdout)
    assert found == json.loads((tmp_path / "o" / "summary.json").read_text(encoding="utf-8"))
    assert found["stopped"] == "interrupted"


def test_a_folder_that_cannot_be_written(campaign: Path, tmp_path: Path) -> None:
    """Also with what a killed campaign left in its log."""
    folder = tmp_path / "ro"
    shutil.copytree(campaign / "o ut", folder)
    db = sqlite3.connect(folder / "campaign.db", isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("UPDATE meta SET value = replace(value, '\"seed\":0', '\"seed\":4711') WHERE key = 'program'")
    for name in ("campaign.db", "campaign.db-wal"):
        shutil.copyfile(folder / name, tmp_path / name)
    db.close()
    for name in ("campaign.db", "campaign.db-wal"):
        shutil.copyfile(tmp_path / name, folder / name)
    (folder / "campaign.db-shm").unlink(missing_ok=True)
    script = (
        "import locale, os, sys\nfrom pathlib import Path\nfrom score_embed.cli.commands import load\nfrom score_embed.cli.main import main\n"
        "load('report')\n"  # as `locale`, which argparse needs: Python may lie where only root reads
        f"os.chmod({str(folder)!r}, 0o555)\n"
        "if os.getuid() == 0:\n    os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        f"sys.exit(main(['report', {str(folder)!r}, '--json']))\n"
    )
    for parent in (folder, *folder.parents):
        if parent.owner() == Path(tmp_path).owner() and parent != Path("/"):
            os.chmod(parent, parent.stat().st_mode | 0o055)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    os.chmod(folder, 0o755)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["seed"] == 4711


def test_what_is_no_campaign(tmp_path: Path) -> None:
    def refused(name: str, code: int, *words: str) -> None:
        error = report(tmp_path, name, code=code).stderr
        for word in words:
            assert word in error, error

    refused("none", 2, "no such folder")
    (tmp_path / "file").touch()
    refused("file", 2, "this is a file")
    (tmp_path / "empty").mkdir()
    refused("empty", 2, "no campaign", "score-embed run")
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun" / "campaign.db").touch()
    refused("begun", 2, "never began")
    (tmp_path / "junk").mkdir()
    (tmp_path / "junk" / "campaign.db").write_bytes(bytes(range(256)) * 50)
    refused("junk", 74, "damaged")
    for version, words in ((VERSION - 1, f"has version {VERSION - 1}"), (VERSION, "its checksums")):
        folder = tmp_path / f"v{version}"
        folder.mkdir()
        db = sqlite3.connect(folder / "campaign.db")
        db.execute("CREATE TABLE x(y)")
        db.execute(f"PRAGMA user_version = {version}")
        db.commit()
        db.close()
        refused(folder.name, 74, words)
    (tmp_path / "torn").mkdir()
    recorded.write(tmp_path / "torn")
    records.change(tmp_path / "torn", "UPDATE meta SET value = '{}' WHERE key = 'progress'")
    refused("torn", 74, "damaged: progress", "campaign.db")


def test_where_reports_cannot_go(campaign: Path) -> None:
    assert "same file" in report(campaign, "o ut", "--lcov", "x", "--junit", "./x", code=2).stderr
    assert "cannot write" in report(campaign, "o ut", "--lcov", "no/x.info", code=74).stderr
    assert "cannot write" in report(campaign, "o ut", "--sarif", str(campaign), code=74).stderr


STEPS = """
#include "score.h"
int main(void)
{
    unsigned char c, d;
    SYM_U8(c);
    if (c >= 20) return 0;
    SYM_U8(d); /* asked for on this path only */
    return d == 0 ? 3 : 1;
}
"""


@pytest.mark.parametrize("clients", [(), ("--clients", "2")], ids=["one", "two"])
@pytest.mark.parametrize("board", BOARDS)
def test_covered_is_what_the_campaigns_own_tests_took(board: str, clients: tuple[str, ...], tmp_path: Path) -> None:
    """Not what it tried before them, or with an input that was too short; and each test that covered something is
    kept."""
    first = {"c": 200}
    one = explore(tmp_path, {"p.c": STEPS}, "--board", board, "--max-tests", "1", *clients, first=first)
    assert one.summary["coverage"] == {"branches_total": 4, "branches_covered": 1}
    (tmp_path / "whole").mkdir()
    whole = explore(tmp_path / "whole", {"p.c": STEPS}, "--board", board, *clients, first=first)
    assert whole.summary["coverage"] == {"branches_total": 4, "branches_covered": 4}
    assert len(list((whole.folder / "tests").glob("*.bin"))) == whole.summary["paths"] == 3


BUG = '#include "score.h"\nint main(void) { int x; SYM_INT(x);\n    return x == 5 ? 1 / (x - 5) : 0; }\n'


def _reports_know_what_run_knew(folder: Path, campaign: str, state: str | None, *more: str, failures: str) -> None:
    """Without being given the baseline once more; whoever gives another one means that."""
    files = ("--junit", "j.xml", "--sarif", "s.sarif", "--html", "p.html")
    done = score_embed("report", campaign, *files, *more, cwd=folder)
    assert done.returncode == (1 if more else 0), done.stderr
    suite = ET.parse(folder / "j.xml").getroot()[0]
    assert (suite.get("failures"), suite.get("skipped")) == (failures, str(1 - int(failures)))
    (result,) = json.loads((folder / "s.sarif").read_text())["runs"][0]["results"]
    assert result.get("baselineState") == state
    assert ("known to the baseline" in (folder / "p.html").read_text()) == (failures == "0")


def test_a_baseline_of_several_campaigns(tmp_path: Path) -> None:
    """Bugs that it knows do not fail, on any board and wherever the line is now; a new one does."""
    (tmp_path / "p.c").write_text(BUG)
    run = ("run", "--baseline", "known.txt", "p.c")
    done = score_embed(*run, cwd=tmp_path)
    assert (done.returncode, "--write-baseline" in done.stderr) == (2, True)
    for board in BOARDS:
        assert score_embed("run", "--board", board, "--out", board, "p.c", cwd=tmp_path).returncode == 1
    done = score_embed("report", *BOARDS, "--write-baseline", "known.txt", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "known.txt").read_text().splitlines()) == 2  # a head, and one bug on two boards
    (tmp_path / "p.c").write_text("/* moved */\n\n" + BUG)
    for board in BOARDS:
        done = score_embed(*run, "--board", board, "--out", f"{board}2", cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "p.c:5: note: known: an integer is divided by zero in main: x = 5 [division-by-zero]" in done.stdout
    done = score_embed(
        "report", *(f"{board}2" for board in BOARDS), "--baseline", "known.txt", "--html", "p.html", cwd=tmp_path
    )
    assert (done.returncode, done.stdout) == (0, "bugs that are new: 0; that the baseline knows: 2\n")
    _reports_know_what_run_knew(tmp_path, "native2", "unchanged", failures="0")
    _reports_know_what_run_knew(tmp_path, BOARDS[0], None, failures="1")
    resumed = ("run", "--resume", "native2")  # a session without a baseline knows no bug
    assert score_embed(*resumed, cwd=tmp_path).returncode == 1
    _reports_know_what_run_knew(tmp_path, "native2", None, failures="1")
    assert score_embed(*resumed, "--baseline", "known.txt", cwd=tmp_path).returncode == 0
    (tmp_path / "none.txt").write_text("")
    _reports_know_what_run_knew(tmp_path, "native2", "unchanged", failures="0")
    _reports_know_what_run_knew(tmp_path, "native2", "new", "--baseline", "none.txt", failures="1")
    (tmp_path / "p.c").write_text(BUG.replace("return", "if (x == 9) return 2 / (x - 9);\nreturn"))
    done = score_embed(*run, "--out", "new", cwd=tmp_path)
    assert done.returncode == 1
    done = score_embed("report", "native2", "new", "--baseline", "known.txt", cwd=tmp_path)
    assert done.returncode == 1
    assert "p.c:3: error: an integer is divided by zero in main: x = 9 [division-by-zero]" in done.stdout
    assert "p.c:4: error" not in done.stdout
    assert score_embed("report", *BOARDS, cwd=tmp_path).returncode == 2
