"""The experiment's tables and plots of made-up trials; what is run, with processes that stand in for campaigns."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from score_embed.errors import UsageError
from score_embed.fleet.process import experiment
from score_embed.fleet.process.experiment import Plan
from score_embed.report import experiment as report
from score_embed.report.page import fleets
from score_embed.results import trial
from score_embed.results.fleet import ClientFigures, FleetFigures
from score_embed.results.trial import Trial


def made_up(clients: int, seed: int, tests: int, paths: int, is_distributed: bool) -> Trial:
    each = tests // clients
    figures = FleetFigures(
        tuple(ClientFigures(f"c{n}", each, 10.0, 9.0) for n in range(clients)), {"Empty": 3}, tests, 0, 10.0
    )
    fleet = figures if is_distributed else None
    return Trial(clients, seed, is_distributed, tests, paths, 30 if fleet else 20, 40, 10.0, (each,) * clients, fleet)


def trials(repeats: int = 6) -> list[Trial]:
    """Fleets find more paths than campaigns that know nothing of each other, with two clients as with four."""
    rng = random.Random(1)
    found = []
    for repeat in range(repeats):
        for clients in (1, 2, 4):
            tests = 1000 * clients + rng.randrange(100)
            found.append(made_up(clients, 4 * repeat, tests, tests, True))
            if clients > 1:
                found.append(made_up(clients, 4 * repeat, tests, 600 + rng.randrange(100), False))
    return found


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_tables() -> None:
    tables = report.tables(trials())
    three = rows(tables["table-3.csv"])
    assert [row["clients"] for row in three] == ["1", "2", "4"]
    assert float(three[2]["times the first line"]) == pytest.approx(4, rel=0.05)
    assert all(float(row["fewest"]) <= float(row["tests"]) <= float(row["most"]) for row in three)
    four = rows(tables["table-4.csv"])
    assert [(row["clients"], row["pairs"]) for row in four] == [("2", "6"), ("4", "6"), ("all", "12")]
    assert float(four[0]["p"]) == pytest.approx(2 / 2**6)  # all six differences have the same sign
    assert float(four[2]["p"]) < 0.001
    assert float(four[1]["ratio"]) > 5
    assert [row["clients"] for row in rows(tables["table-5.csv"])] == ["1", "2", "4"]
    assert [row["EMPTY"] for row in rows(tables["table-5.csv"])] == ["3.0", "1.5", "0.75"]  # a client
    assert len(rows(tables["trials.csv"])) == 6 * 5
    six = rows(tables["table-6.csv"])
    assert float(six[0]["useful time %"]) == 90
    # made_up: the time is the same, and nearly twice and four times as many tests; the paper's DV5
    first, *others = (float(row["different paths"]) for row in three)
    assert [float(row["efficiency"]) for row in six] == pytest.approx(
        [1, others[0] / first / 2, others[1] / first / 4], abs=1e-6
    )
    assert [row["by tests a second"] for row in six] == [row["efficiency"] for row in six]
    seven = rows(tables["table-7.csv"])
    assert [row["% independent"] for row in seven] == ["", "50.0", "50.0"]
    assert {row["% distributed"] for row in seven} == {"75.0"}
    assert tables["experiment.md"].count("\n| ---") == 2 * 5  # the paper's beside each
    papers = {name for name in tables if name.endswith("-paper.csv")}
    assert papers == {f"table-{number}-paper.csv" for number in range(3, 8)}
    assert rows(tables["table-7-paper.csv"])[0] == {
        "measure": "% distributed", "nodes": "1",
        "grep": "24.1", "ptok1": "72.7", "ptok2": "78.7", "replace": "40.5", "sed": "21.7", "vim": "9.1",
    }  # fmt: skip


def test_efficiency_is_of_the_same_time() -> None:
    """To its end a campaign has as many tests with any number of clients: DV5 would say 1 by their number."""
    one, four = made_up(1, 0, 1000, 1000, True), made_up(4, 0, 1000, 1000, True)
    (row, other) = report.efficiency([one, dataclasses.replace(four, seconds=2.5)]).rows
    assert row[:3] == [1, 1.0, 1.0]
    assert other[:3] == [4, None, 1.0]
    assert report.efficiency([one, four]).rows[1][:3] == [4, 0.25, 0.25]
    assert report.efficiency([four]).rows[0][:3] == [4, None, None]


def test_the_page(tmp_path: Path) -> None:
    """Every table and the paper's beside it, plots, and links to the campaigns' own pages where there are any."""
    folder = tmp_path / "o ut" / "fleet"
    folder.mkdir(parents=True)
    (folder / "report.html").touch()
    some = [dataclasses.replace(one, folders=(folder, tmp_path)) for one in trials(2)]
    text = fleets.of_experiment(some, {"Program": "<b>p.c", "Options": ""}, tmp_path)
    assert text.count("<table") == 2 * 5 + 2
    assert text.count("<figure") == 5
    assert text.count('href="o%20ut/fleet/report.html"') == len(some)
    assert "&lt;b&gt;p.c" in text
    assert "<b>p.c" not in text


def test_the_page_plots_efficiency_of_tests_a_second_where_times_differ(tmp_path: Path) -> None:
    """A line of the paper's measure with gaps would hide the fleets that took longer."""
    some = [made_up(clients, 0, 1000 * clients, 1000 * clients, True) for clients in (1, 2, 4)]
    assert "Efficiency (Table VI)</title>" in fleets.of_experiment(some, {}, tmp_path)
    late = dataclasses.replace(some[2], seconds=12.0)
    assert "Efficiency of tests a second (Table VI)</title>" in fleets.of_experiment([*some[:2], late], {}, tmp_path)


def test_a_page_of_little(tmp_path: Path) -> None:
    """One trial of several clients: nothing to compare it with."""
    text = fleets.of_experiment([made_up(4, 0, 1000, 1000, True)], {}, tmp_path)
    assert "Nothing of the kind was tried" in text
    assert text.count("<figure") == 1
    assert "Times one client" not in text
    nothing = made_up(1, 0, 0, 0, True)
    assert "Trials" in fleets.of_experiment([nothing, made_up(2, 0, 0, 0, True)], {}, tmp_path)


def test_figures() -> None:
    plots = dict(report.figures(trials(2)))
    assert sorted(plots) == ["figure-2.svg", "figure-3.svg", "figure-4.svg"]
    assert all(report.INDEPENDENT in plots[f"figure-{number}.svg"] for number in (2, 4))


def test_without_independent_campaigns() -> None:
    some = [one for one in trials(1) if one.is_distributed]
    assert rows(report.tables(some)["table-4.csv"]) == []
    assert len(dict(report.figures(some))) == 3


def test_no_difference_is_no_evidence() -> None:
    assert report.wilcoxon([(5, 5), (7, 7)]) == 1.0
    assert report.wilcoxon([(5, 4)] * 5) > 0.05
    assert report.wilcoxon([(n + 100, n) for n in range(8)]) < 0.05


def test_without_scipy_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="scipy") as caught:
        report.require()
    assert "score-embed[experiment]" in caught.value.hint


# What is run ----------------------------------------------------------------------------------------------------------

# Stands in for `score-embed run`: writes what its seed says, or fails.
STAND_IN = """
import json, pathlib, sys
words = sys.argv[1:]
out, seed = pathlib.Path(words[words.index("--out") + 1]), int(words[words.index("--seed") + 1])
if "--fails" in words:
    print("p.c:1: error: no", file=sys.stderr)
    raise SystemExit(3)
out.mkdir()
summary = {"stopped": "time", "words": words, "runs": 10 + seed}
(out / "summary.json").write_text(json.dumps(summary))
with (out.parent.parent.parent / "began").open("a") as began:
    print(seed, "--clients" in words, file=began)
"""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Campaigns are of no consequence, and trials count them."""
    program = tmp_path / "stand_in.py"
    program.write_text(STAND_IN, encoding="utf-8")
    start = experiment._start

    def started(command: Sequence[str], log: Path) -> Any:
        return start([command[0], str(program), *command[3:]], log)

    def read(folders: Sequence[Path], seed: int) -> Trial:
        tests = [json.loads((folder / "summary.json").read_text(encoding="utf-8"))["runs"] for folder in folders]
        return made_up(len(folders), seed, sum(tests), 1, False)

    monkeypatch.setattr(experiment, "_start", started)
    monkeypatch.setattr(trial, "independent", read)
    monkeypatch.setattr(trial, "distributed", lambda folder, clients, seed: made_up(clients, seed, 1, 1, True))
    return tmp_path / "out"


def test_every_campaign_is_run_once_also_if_the_experiment_is_stopped(stand_in: Path) -> None:
    plan = Plan(stand_in, [1, 3], 2, 7, True, ["p.c"])
    kinds = [(one.clients, one.seed, one.is_distributed) for one in experiment.run(plan)]
    once = [(1, 7, True), (3, 7, True), (3, 7, False)]
    assert kinds == [*once, *((clients, 10, kind) for clients, _, kind in once)]
    began = sorted((stand_in / "began").read_text(encoding="utf-8").splitlines())
    assert began == sorted(
        f"{seed} {fleet}"
        for first in (7, 10)
        for seed, fleet in [(first, False), (first, True), (first, False), (first + 1, False), (first + 2, False)]
    )
    # One was killed; the others are not run again.
    (stand_in / "3-clients" / "2" / "alone-11" / "summary.json").write_text('{"stopped": "interrupted"}')
    (stand_in / "began").unlink()
    assert len(list(experiment.run(plan))) == 6
    assert (stand_in / "began").read_text(encoding="utf-8") == "11 False\n"


def test_each_campaign_has_a_board_of_its_own(stand_in: Path) -> None:
    plan = Plan(stand_in, [1, 2], 1, 0, True, ["p.c"], ["a", "b", "c"])
    list(experiment.run(plan))
    used = {}
    for path in stand_in.rglob("summary.json"):
        words = json.loads(path.read_text(encoding="utf-8"))["words"]
        port = words[words.index("--port") + 1] if "--port" in words else None
        used[str(path.parent.relative_to(stand_in))] = port
    assert used == {
        "1-clients/1/fleet": "a",
        "2-clients/1/fleet": None,
        "2-clients/1/alone-0": "a",
        "2-clients/1/alone-1": "b",
    }


def test_another_experiment_is_not_mixed_in(stand_in: Path) -> None:
    list(experiment.run(Plan(stand_in, [1], 1, 0, False, ["p.c"])))
    list(experiment.run(Plan(stand_in, [1], 2, 0, True, ["p.c"])))  # goes further
    for other in (Plan(stand_in, [1], 1, 0, False, ["q.c"]), Plan(stand_in, [1, 2], 1, 0, False, ["p.c"])):
        with pytest.raises(UsageError, match="another experiment"):
            list(experiment.run(other))
    said = json.loads((stand_in / experiment.PLAN).read_text(encoding="utf-8"))
    assert said == {"counts": [1], "seed": 0, "words": ["p.c"]}
    (stand_in / experiment.PLAN).write_text("{}", encoding="utf-8")
    with pytest.raises(UsageError, match="another experiment"):
        list(experiment.run(Plan(stand_in, [1], 1, 0, False, ["p.c"])))


def test_a_campaign_that_fails_ends_the_experiment(stand_in: Path) -> None:
    with pytest.raises(experiment.CampaignError, match=r"p.c:1: error: no") as caught:
        list(experiment.run(Plan(stand_in, [1], 1, 0, False, ["--fails", "p.c"])))
    assert caught.value.exit_code == 3


def test_a_client_that_came_too_late_is_one_of_the_fleet() -> None:
    alone = FleetFigures((ClientFigures("1", 100, 1.0, 0.8),), {}, 100, 0, 1.0)
    fleet = trial._with_late(alone, 4)
    assert len(fleet.clients) == 4
    assert fleet.workload == [0, 0, 0, 100]
    assert fleet.useful_time == pytest.approx(0.2)
    assert trial._with_late(alone, 1) == alone
