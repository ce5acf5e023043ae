"""What a fleet came to: the record under "fleet" in summary.json, its text, tables and plots, with made-up values."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import recorded

from score_embed.cli.main import main
from score_embed.errors import UsageError
from score_embed.report import findings, fleet, paper, plots, text
from score_embed.report.fleet import Yield, by_rate, dv5
from score_embed.report.table import Table
from score_embed.results.fleet import ClientFigures, FleetFigures
from score_embed.results.parts import FLEET
from score_embed.results.store import Store
from score_embed.results.summary import text as text_of

MESSAGES = {"Empty": 5, "Req": 6, "Ack": 7, "Nack": 2, "Stop": 4, "Hello": 4, "Results": 20, "Stored": 20, "Relayed": 1}


def made_up(*tests: int, seconds: float = 10.0, redundant: int = 0) -> FleetFigures:
    """Clients that were there all the time; each is at work for a hundredth of a second a test."""
    clients = (ClientFigures(f"c{n}", count, seconds, count / 100) for n, count in enumerate(tests))
    return FleetFigures(tuple(clients), MESSAGES, sum(tests) - redundant, redundant, seconds)


def test_what_follows_from_the_figures() -> None:
    found = made_up(900, 800, 1000, 700, redundant=34)
    assert found.workload == [700, 800, 900, 1000]
    assert found.quartiles == (775, 850, 925)
    assert (found.runs, found.tests, found.rate) == (3400, 3366, 336.6)
    assert found.redundancy == 0.01
    assert found.useful_time == pytest.approx(0.85 * 0.99)
    assert found.waiting == pytest.approx(0.15)
    assert [client.waiting for client in found.clients] == pytest.approx([1, 2, 0, 3])
    assert found.per_client == 6
    assert found.control == 29 / 4
    assert found.per_test == 69 / 3400


def test_a_fleet_that_did_nothing() -> None:
    for found in (FleetFigures((), {}, 0, 0, 0.0), made_up(0, seconds=0.0)):
        assert (found.rate, found.redundancy, found.useful_time, found.waiting) == (0, 0, 0, 0)
        assert found.quartiles == (0, 0, 0)
        assert list(fleet.lines(found))
        assert all(table.markdown() and table.csv() for table in fleet.tables([found]))


def test_it_is_kept_in_the_summary_and_shown_in_the_report(tmp_path: Path) -> None:
    found = made_up(900, 800, 1000, 700, redundant=34)
    recorded.write(tmp_path)
    with Store.read(tmp_path) as record:
        assert findings.read(record).summary.fleet is None
    with Store.open(tmp_path) as record:
        record.put(FLEET, found)
    with Store.read(tmp_path) as record:
        read = findings.read(record)
    assert read.fleet == found
    summary = json.loads(text_of(read.summary))["fleet"]
    assert summary["useful_time"] == 0.8415
    assert summary["clients"][3] == {"name": "c3", "tests": 700, "seconds": 10.0, "busy": 7.0, "waiting": 3.0}
    lines = list(text.full(read))
    assert lines[lines.index("fleet:") :] == [
        "fleet:",
        "  4 clients, 3400 tests, 34 of them redundant; useful time 84.1 %, waiting 15.00 %",
        "  tests a client: 700 at least, half of them 775 to 925 (median 850), 1000 at most",
        "  messages: EMPTY 5, REQ 6, ACK 7, NACK 2, STOP 4, others 45; 7.2 for control a client, 0.02 a test",
        "  c0: 900 tests, waited 1.00 of 10.00 s",
        "  c1: 800 tests, waited 2.00 of 10.00 s",
        "  c2: 1000 tests, waited 0.00 of 10.00 s",
        "  c3: 700 tests, waited 3.00 of 10.00 s",
    ]


def test_its_workload_is_plotted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded.write(tmp_path)
    plot = tmp_path / "w.svg"
    assert main(["report", str(tmp_path), "--workload", str(plot)]) == 2
    assert "one client did this campaign" in capsys.readouterr().err
    with Store.open(tmp_path) as record:
        record.put(FLEET, made_up(900, 800, 1000, 700))
    assert main(["report", str(tmp_path), "--workload", str(plot)]) == 0
    assert {"4", "tests a client"} <= words_of(plot.read_text(encoding="utf-8"))


def test_a_large_fleet_is_not_listed_one_by_one() -> None:
    lines = list(fleet.lines(made_up(*range(100, 200))))
    assert len(lines) == 3 + fleet.MOST_CLIENTS + 1
    assert "84 more" in lines[-1]


def test_tables_have_a_line_for_each_fleet_and_the_papers_beside_it() -> None:
    fleets = [made_up(1000), made_up(900, 800, 1000, 700, redundant=34)]
    tests, messages, efficiency, workload = fleet.tables(fleets)
    assert tests.rows == [[1, 1000, 10.0, 100.0, 1.0], [4, 3366, 10.0, 336.6, 3.366]]
    told = dict(zip(messages.columns, messages.rows[1], strict=True))
    assert told["these together"] == 6
    assert told["these, % of tests"] == pytest.approx(100 * 24 / 3400)
    assert efficiency.rows[1] == pytest.approx([4, 3366 / 1000 / 4, 0.8415, 84.15, 15, 1])
    assert workload.rows[1] == [4, 850, 700, 775, 850, 925, 1000]
    for table in (tests, messages, efficiency, workload):
        head, *rows = csv.reader(io.StringIO(table.csv()))
        assert tuple(head) == table.columns
        assert len(rows) == len(table.rows)
        published = table.published
        assert published is not None
        assert table.markdown().count("\n| ") == len(rows) + 2 + len(published.rows) + 2
        assert f"**{published.title}**" in table.markdown()


# Efficiency -----------------------------------------------------------------------------------------------------------


def test_efficiency_is_the_papers() -> None:
    one = Yield(1, 1000, 60.0)
    assert dv5(Yield(4, 3000, 61.0), one) == 0.75  # about the same time: tests ÷ tests ÷ clients, and nothing else
    assert dv5(one, one) == by_rate(one, one) == 1.0
    assert by_rate(Yield(4, 1000, 20.0), one) == 0.75


@pytest.mark.parametrize("one", [None, Yield(1, 1000, 15.0), Yield(1, 1000, 25.0), Yield(1, 0, 20.0)])
def test_without_a_campaign_of_the_same_time_there_is_no_efficiency(one: Yield | None) -> None:
    assert dv5(Yield(4, 1000, 20.0), one) is None


def test_without_a_fleet_of_one_the_table_says_so() -> None:
    (row,) = fleet.efficiency([made_up(900, 800, 1000, 700)]).rows
    assert row[1:3] == [None, None]
    assert by_rate(Yield(4, 0, 0.0), Yield(1, 1, 1.0)) is None


# What was published ---------------------------------------------------------------------------------------------------


def figures(table: Table, measure: str) -> list[list[float]]:
    return [[float(str(cell)) for cell in row[2:]] for row in table.rows if row[0] == measure]


def test_published_figures_agree_with_one_another() -> None:
    """The paper printed these, rounded; we compute them of its tests, so a figure that is copied wrongly is seen."""
    assert figures(paper.efficiency_table(), "efficiency") == [
        [1.25, 0.92, 0.63, 0.44, 0.56, 0.33],
        [1.09, 0.98, 0.62, 0.43, 0.54, 0.33],
        [1.41, 0.97, 0.62, 0.45, 0.54, 0.31],
        [1.31, 0.94, 0.61, 0.45, 0.53, 0.31],
    ]
    assert figures(paper.comparison_table(), "ratio") == [
        [3.37, 2.86, 1.80, 2.13, 1.34, 20.05],
        [3.14, 3.36, 1.94, 2.31, 1.37, 31.28],
        [4.47, 3.51, 2.11, 2.82, 1.42, 37.29],
        [4.27, 3.80, 2.18, 3.29, 1.55, 48.65],
    ]
    assert figures(paper.messages_table(), "these, % of tests") == [
        [4.43, 1.18, 0.13, 0.22, 0.45, 12.36],
        [3.99, 0.85, 0.08, 0.13, 0.29, 11.36],
        [2.65, 0.90, 0.09, 0.16, 0.26, 10.12],
        [2.14, 0.72, 0.07, 0.10, 0.20, 7.80],
    ]


def test_published_tables_are_whole() -> None:
    for table, rows in (
        (paper.tests_table(), 10),
        (paper.comparison_table(), 8),
        (paper.messages_table(), 12),
        (paper.efficiency_table(), 4),
        (paper.coverage_table(), 6),
        (paper.workload_table(), 4),
    ):
        assert len(table.rows) == rows
        assert {len(row) for row in table.rows} == {len(table.columns)} == {2 + len(paper.PROGRAMS)}


def test_a_cell() -> None:
    table = Table("T", ("a", "b"), [[None, 1.23456789], ["x|y", 12345.678]])
    assert table.markdown() == "**T**\n\n| a | b |\n| --- | --- |\n| – | 1.235 |\n| x\\|y | 12345.7 |\n"
    assert table.csv() == "a,b\n,1.234568\nx|y,12345.678\n"


# Plots --------------------------------------------------------------------------------------------------------------


def words_of(svg: str) -> set[str]:
    return {"".join(node.itertext()).strip() for node in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")}


def test_plots_are_svg_whose_words_are_words() -> None:
    tests = plots.tests_over_clients({"fleet": [(1, 90.0), (64, 5000.0)], "alone": [(1, 90.0)]}, "tests a second")
    assert {"clients", "tests a second", "fleet", "alone"} <= words_of(tests)
    assert {"4", "16", "tests a client"} <= words_of(plots.workload([("4", [1, 2, 3, 9]), ("16", [5])]))
    assert "tests that are not redundant, %" in words_of(plots.not_redundant({"fleet": [(1, 1.0), (4, 0.5)]}))


def test_the_same_figures_give_the_same_plot() -> None:
    one, other = (plots.workload([("4", [1, 2, 3, 9])]) for _ in range(2))
    assert one == other
    assert one != plots.workload([("4", [1, 2, 3, 8])])


def test_without_matplotlib_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="matplotlib") as caught:
        plots.workload([("1", [1])])
    assert "score-embed[plots]" in caught.value.hint
