"""`score-embed fleet simulate` and `fleet record` as a user meets them."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from urllib.parse import unquote

import pytest
from runner import explore, explore_files, score_embed

from score_embed.cli.main import main
from score_embed.fleet.simulation.recorded import Recording

ROOT = Path(__file__).parents[2]

ONE_BUG = """
#include "score.h"
int main(void)
{
    unsigned char b[4];
    int n = 0;
    SYM_BYTES(b, sizeof b);
    for (unsigned i = 0; i < sizeof b; i++)
        if (b[i] == 'a' + i)
            n++;
    SCORE_ASSERT(n != 3);
    return n;
}
"""

NO_FLIP = 2**32 - 1  # the depth of a test that only is to be run


def fleet(folder: Path, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = score_embed("fleet", *words, cwd=folder, deadline=120)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def test_a_campaign_is_recorded_and_simulated(tmp_path: Path) -> None:
    campaign = explore_files(tmp_path, [ROOT / "bench" / "tokenizer.c"], "--max-tests", "300", cflags=("-DSIZE=20",))
    before = {path: path.read_bytes() for path in campaign.folder.rglob("*") if path.is_file()}
    said = fleet(tmp_path, "record", str(campaign.folder), "t.tree").stdout
    assert "300 tests (not all there are) of tokenizer on native" in said
    assert before == {path: path.read_bytes() for path in before}
    tree = Recording.from_bytes((tmp_path / "t.tree").read_bytes(), "t.tree")
    assert tree.tests == campaign.summary["runs"] == 300
    assert tree.width > 1  # what each test took is as it happened to be
    # Two clients, costs as on a board, everything written.
    done = fleet(tmp_path, "simulate", "--tree", "t.tree", "--clients", "1,2", "--test", "50ms", "--out", "o/ut")
    assert said.split(": ", 1)[1].split(", order")[0] in done.stdout
    with (tmp_path / "o" / "ut" / "tests.csv").open(encoding="utf-8") as file:
        one, two = csv.DictReader(file)
    assert (one["clients"], one["tests"], two["clients"], two["tests"]) == ("1", "300", "2", "300")
    assert float(one["seconds"]) == pytest.approx(300 * 0.05, rel=0.05)
    assert 0.99 < float(two["times the first line"]) < min(2.01, tree.width + 0.01)
    for name in ("tests", "workload", "redundancy"):
        ET.parse(tmp_path / "o" / "ut" / f"{name}.svg")
    document = (tmp_path / "o" / "ut" / "fleet.md").read_text(encoding="utf-8")
    assert all(line in document for line in done.stdout.splitlines())
    assert "| ptok1 |" in done.stdout
    assert (tmp_path / "o" / "ut" / "efficiency-paper.csv").read_text(encoding="utf-8").startswith("measure,nodes,grep")
    assert "Simulated fleet" in (tmp_path / "o" / "ut" / "report.html").read_text(encoding="utf-8")


def test_a_whole_campaign_is_recorded_whole(tmp_path: Path) -> None:
    campaign = explore_files(tmp_path, [ROOT / "bench" / "search.c"], "--strategy", "random", "--seed", "5")
    assert campaign.summary["stopped"] == "exhausted"
    assert "not all" not in fleet(tmp_path, "record", str(campaign.folder), "t.tree").stdout
    assert Recording.from_bytes((tmp_path / "t.tree").read_bytes(), "").tests == campaign.summary["runs"]
    fleet(tmp_path, "record", str(campaign.folder), "t.tree", "--max-tests", "5")
    assert Recording.from_bytes((tmp_path / "t.tree").read_bytes(), "").tests == 5


@pytest.mark.parametrize("option", ["--first", "--have"])
def test_tests_that_were_there_before_are_in_the_tree(option: str, tmp_path: Path) -> None:
    """They are run in the same order again, and hang on the first one: nobody brought them."""
    (tmp_path / "own").mkdir()
    for name in ("5a", "00", "7f"):
        (tmp_path / "own" / f"{name}.bin").write_bytes(bytes.fromhex(name) * 3)
    campaign = explore_files(tmp_path, [ROOT / "bench" / "search.c"], option, "own", "--strategy", "bfs")
    said = fleet(tmp_path, "record", str(campaign.folder), "t.tree").stdout
    assert "not all" not in said
    tree = Recording.from_bytes((tmp_path / "t.tree").read_bytes(), "")
    assert tree.tests == campaign.summary["runs"]
    own = [place for place, depth in enumerate(tree.depth) if depth == NO_FLIP]
    assert [tree.back[place] for place in own] == own
    assert own == [0, 1] if option == "--have" else len(own) == 2  # the user's own come before all others
    (first,) = (place for place, depth in enumerate(tree.depth) if depth == 0)
    assert tree.back[first] == first


def test_wrong_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.tree").write_text("no tree", encoding="utf-8")
    Path("file").touch()
    for code, words, what in (
        (2, "simulate --clients 0", "whole number from 1 to 4096"),
        (2, "simulate --clients 5000", "whole number from 1 to 4096"),
        (2, "simulate --test -1", "no time"),
        (2, "simulate --tree x.tree", "x.tree: error: this is not the recorded tree"),
        (2, "simulate --tree y.tree", "no recorded tree 'y.tree'"),
        (2, "simulate --tree x.tree --tests 5", "as many tests as it has"),
        (2, "record nowhere t.tree", "there is no such folder"),
        (74, "simulate --out file/x", "cannot make this folder"),
        (74, "simulate --html file/x/p.html", "cannot make this folder"),
        (74, "experiment --html file/x/p.html --out o p.c", "cannot make this folder"),
    ):
        assert main([*(() if words.startswith("experiment") else ("fleet",)), *words.split()]) == code
        assert what in capsys.readouterr().err


def test_an_experiment(tmp_path: Path) -> None:
    """One client, two of a fleet, two that know nothing of each other."""
    words = ("--clients", "1,2", "--independent", "--out", "o", "--html", "page.html", "--max-tests", "60")
    program = (str(ROOT / "bench" / "tokenizer.c"), "--", "-DSIZE=20")
    first = score_embed("experiment", *words, "--strategy", "bfs", *program, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert sum("branches" in line for line in first.stderr.splitlines()) == 3
    with (tmp_path / "o" / "trials.csv").open(encoding="utf-8") as file:
        one, fleet, alone = csv.DictReader(file)
    assert (one["tests"], alone["tests"]) == ("60", "120")
    assert 60 <= int(fleet["tests"]) == int(fleet["paths"]) <= 62  # each client may end the test it has begun
    assert int(alone["paths"]) <= 120
    with (tmp_path / "o" / "table-5.csv").open(encoding="utf-8") as file:
        assert [row["clients"] for row in csv.DictReader(file)] == ["1", "2"]
    for number in (2, 3, 4):
        ET.parse(tmp_path / "o" / f"figure-{number}.svg")
    assert first.stdout.count("**The paper's Table ") == 5
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    links = re.findall(r'href="([^"#]+report\.html)"', page)
    assert len(links) == 4
    assert all((tmp_path / unquote(link)).is_file() for link in links)
    assert "tokenizer.c" in page
    assert not (tmp_path / "o" / "report.html").exists()


def test_an_experiment_goes_on_beyond_known_bugs(tmp_path: Path) -> None:
    """--until-bug stops at others than those of the baseline."""
    (tmp_path / "p.c").write_text(ONE_BUG)
    assert score_embed("run", "--out", "first", "p.c", cwd=tmp_path).returncode == 1
    assert score_embed("report", "first", "--write-baseline", "known.txt", cwd=tmp_path).returncode == 0
    words = ("experiment", "--clients", "1", "--until-bug")
    for folder, stopped, more in (("a", "bug", ()), ("b", "exhausted", ("--baseline", "known.txt"))):
        done = score_embed(*words, *more, "--out", folder, "p.c", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        found = json.loads((tmp_path / folder / "1-clients" / "1" / "fleet" / "summary.json").read_text())
        assert found["stopped"] == stopped


@pytest.mark.parametrize(("most", "stopped"), [("40", "goal"), ("1", "max-tests")])
def test_an_experiment_with_a_goal(most: str, stopped: str, tmp_path: Path) -> None:
    """Reached or open, it is a campaign that came to its end, and is not run again."""
    (tmp_path / "p.c").write_text(ONE_BUG.replace("SCORE_ASSERT(n != 3)", "n += n != 3"))
    words = ("experiment", "--clients", "1", "--goal", "branch", "--max-tests", most, "--out", "o", "p.c")
    summary = tmp_path / "o" / "1-clients" / "1" / "fleet" / "summary.json"
    made = []
    for _ in range(2):
        done = score_embed(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert json.loads(summary.read_text())["stopped"] == stopped
        made.append(summary.stat().st_ino)
    assert made[0] == made[1]


COUNTS = """
#include "score.h"
int main(void)
{
    unsigned char a, b;
    int n = 0;
    SYM_U8(a);
    SYM_U8(b);
    if (a > 9) n++;
    if (a > 99 && a < 9) n += 2; /* never */
    if (b * b == 2) n += 4; /* never */
    if (a == b) n += 8;
    return n;
}
"""


def test_clients_tell_what_they_have_counted(tmp_path: Path) -> None:
    """Each reason why a direction was not taken at once, figures now and then: those of a tenth of a second may be
    missing, of a client whose last pairs went to another."""
    told = []
    for clients in ("1", "2"):
        (tmp_path / clients).mkdir()
        told.append(explore(tmp_path / clients, {"p.c": COUNTS}, "--clients", clients, "--no-witness").summary)
    one, two = told
    assert one["stopped"] == two["stopped"] == "exhausted"
    assert one["paths"] == two["paths"]
    assert [{**why, "count": 0} for why in one["unflipped"]] == [{**why, "count": 0} for why in two["unflipped"]]
    assert 5 < sum(two["solver"]["by"].values()) <= sum(one["solver"]["by"].values())
    assert 100 < two["link"]["bytes_out"] <= one["link"]["bytes_out"]
