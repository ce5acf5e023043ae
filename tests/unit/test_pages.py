"""What pages are made of: lines and their remarks, moments, merged branches; and that nothing of a record is markup."""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import jinja2
import pages
import pytest
import recorded
from msgspec import structs

from score_embed.campaign.ending import Result
from score_embed.cli import main, run
from score_embed.contract.judged import Judged
from score_embed.contract.words import Unflipped
from score_embed.errors import StorageError
from score_embed.report import branches, findings
from score_embed.report.branches import Branch, Side
from score_embed.report.findings import Findings
from score_embed.report.page import campaign, coverage, project, render, sources
from score_embed.report.page.charts import over_clients
from score_embed.results.parts import MOST_MOMENTS, Moment, Timeline
from score_embed.results.store import Store

ALLOWED = {"script": 1, "style": 1, "link": 1, "meta": 5, "title": 1}


def read(folder: Path) -> Findings:
    with Store.read(folder) as record:
        return findings.read(record, 10)


class Tags(HTMLParser):
    """The elements of a page and their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: set[str] = set()
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src", "action")]


def test_a_record_makes_no_elements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages.hostile(tmp_path, monkeypatch)
    found = read(tmp_path)
    for text in (campaign.document(found), project.document([found, found], tmp_path)):
        made = Tags(text)
        assert {name: made.names.count(name) for name in ALLOWED} | {"title": 1} == ALLOWED
        assert not any(name.startswith("on") for name in made.attributes)
        assert all(address.startswith("#") or address == "data:," for address in made.addresses)
        assert "owned" in text
        assert not pages.CONTROL.search(text.replace("\t", " "))
        text.encode()


def test_every_reason_has_a_word_and_a_meaning() -> None:
    assert set(coverage.REASONS) == set(coverage.MEANING) == set(Unflipped)
    style = (Path(render.__file__).parent / "style.css").read_text(encoding="utf-8")
    assert all(f".r-{reason.replace(' ', '-')}" in style for reason in Unflipped)


def test_lines_and_their_remarks(tmp_path: Path) -> None:
    recorded.write(tmp_path)
    found = read(tmp_path)
    every = branches.of(found)
    made = sources.sources(found.sources.texts, every, {(recorded.A, 3): [sources.Remark("bug", "hang", "text", "b")]})
    assert [file.name for file in made.files] == [recorded.B, recorded.A, "<entry>"]
    lines = {line.number: line for block in made.files[1].blocks for line in block}
    assert [(line.state, len(line.remarks)) for line in lines.values()] == [("", 0), ("full", 0), ("part", 3)]
    assert [remark.kind for remark in lines[3].remarks] == ["unsat", "mispredicted", "bug"]
    assert made.anchor(recorded.A, 3) == "s1-3"
    assert made.anchor(recorded.A, 99) == made.anchor("nothing.c", 1) == ""
    assert [function.taken for function in branches.functions(every).values()] == [1, 0, 3]


def branch(line: int, *sides: Side, function: str = "f") -> Branch:
    return Branch("a.c", line, function, sides)


YES, NO = Side("true", True), Side("false", False, "unsat", "proved")
UNKNOWN = Side("true", False, "not-reached", "nobody came")


def test_large_programs_keep_what_is_near() -> None:
    texts = {"a.c": [f"line {n}" for n in range(1, 40_001)], "b.c": ["x" * 5000]}
    made = sources.sources(texts, [branch(100, NO, YES), branch(30_000, NO, YES)], {})
    (file,) = made.files
    shown = [line for block in file.blocks for line in block]
    assert [line.number for line in shown] == [0, *range(97, 104), 0, *range(29_997, 30_004), 0]
    assert [line.text for line in shown if not line.number] == ["96 lines", "29893 lines", "9997 lines"]
    assert made.left_out == 40_000 - 14
    assert made.others == ["b.c"]
    (long,) = sources.sources({"b.c": ["x" * 5000]}, [Branch("b.c", 1, "f", (YES, NO))], {}).files[0].blocks[0]
    assert len(long.text) < 2100
    assert "3000 characters more" in long.text


def test_there_is_an_end_to_what_is_shown() -> None:
    many = [branch(line, NO, YES) for line in range(1, 100_000)]
    made = sources.sources({"a.c": ["x"] * 100_000}, many, {})
    assert sum(len(block) for block in made.files[0].blocks) <= sources.MOST_SHOWN + 1
    assert made.left_out == 100_000 - sources.MOST_SHOWN
    assert made.is_large
    assert not made.files[0].is_open


def test_campaigns_together() -> None:
    one = [branch(1, NO, YES), branch(2, UNKNOWN, UNKNOWN), branch(2, NO, YES)]
    other = [branch(1, Side("false", True), UNKNOWN), branch(2, UNKNOWN, UNKNOWN), branch(3, NO, YES)]
    made = branches.merged([one, other])
    assert [(each.line, [side.taken for side in each.sides]) for each in made] == [
        (1, [True, True]),
        (2, [False, False]),
        (2, [False, True]),
        (3, [False, True]),
    ]
    assert branches.merged([one, one]) == one
    late = [branch(1, UNKNOWN, UNKNOWN)]
    told = [branch(1, Side("true", False, "unsat", "proved"), Side("true", True))]
    for order in ((late, told), (told, late)):
        (both,) = branches.merged(order)
        assert [side.reason for side in both.sides] == ["unsat", ""]


def test_an_older_text_does_not_count(tmp_path: Path) -> None:
    recorded.write(tmp_path)
    found = read(tmp_path)
    program = structs.replace(found.program, began="2040-01-01T00:00:00Z")
    texts = {**found.sources.texts, recorded.A: ("int f;", "if (x)", "y")}
    newer = structs.replace(found, program=program, sources=structs.replace(found.sources, texts=texts))
    text = project.document([found, newer], tmp_path)
    assert "Of these files the newest text is shown" in text
    assert "int f;" in text
    assert "switch (x) {" not in text


def test_a_line_of_a_project_is_one_bug(tmp_path: Path) -> None:
    """Whoever calls its function; and other lines of the same text are others, although their identity is the same."""
    recorded.write(tmp_path)
    found = read(tmp_path)
    texts = {**found.sources.texts, recorded.A: ("int f;", "g(x / y);", "other", "\tg(x / y);")}
    bug = found.bugs[0]
    callers = [("f", f"caller_{number}", "main") for number in range(7)]
    apart = [structs.replace(bug, line=2, stack=stack) for stack in callers]
    apart += [structs.replace(bug, line=4, stack=callers[0]), structs.replace(bug, line=2, kind="hang")]
    many = structs.replace(found, bugs=tuple(apart), sources=structs.replace(found.sources, texts=texts))
    text = project.document([many], tmp_path)
    assert text.count("<article") == 3
    assert "Called by caller_4, main" in text
    assert "Seen 2 more times, by other campaigns or callers." in text
    moved = {**texts, recorded.A: ("#define X", *texts[recorded.A])}
    later = structs.replace(
        many,
        bugs=tuple(structs.replace(each, line=each.line + 1) for each in many.bugs),
        program=structs.replace(found.program, began="2040-01-01T00:00:00Z"),
        sources=structs.replace(found.sources, texts=moved),
    )
    both = project.document([many, later], tmp_path)
    assert both.count("<article") == 3
    places = re.findall(r"<article.*?</span>([^<>]+:\d+)<", both.replace("<wbr>", ""), re.DOTALL)
    assert places == ["a b.c:3", "a b.c:5", "a b.c:3"]


def test_judged_bugs_are_listed_apart(tmp_path: Path) -> None:
    """With the line that says so; they are not open."""
    recorded.write(tmp_path)
    found = read(tmp_path)
    bug, line = found.bugs[0], Judged("accept", "8a31f0c2", "issue 41 <mended>", "score-hints.yaml:3")
    gone = Judged("refuse", "gone.c:9", "moved", "score-hints.yaml:7")
    apart = structs.replace(found, bugs=found.bugs[1:], judged=((bug, line),), unmatched=(gone,))
    for text in (campaign.document(apart), project.document([apart], tmp_path)):
        assert text.count("<article") == len(found.bugs) - 1
        row = text.partition("Accepted and refused")[2].partition("</table>")[0]
        for shown in (
            "accepted",
            bug.kind,
            bug.function,
            "accept 8a31f0c2",
            "score-hints.yaml:3",
            "issue 41 &lt;mended&gt;",
        ):
            assert shown in row
        assert "1 accepted" in text
    assert "refuse gone.c:9" in campaign.document(apart)
    assert "Accepted and refused" not in campaign.document(found)
    both = project.document([apart, found], tmp_path)  # there it is open
    assert both.count("<article") == len(found.bugs)
    assert "Accepted and refused" not in both
    alone = structs.replace(apart, bugs=())
    assert "None is open." in campaign.document(alone)
    assert "None was found." not in project.document([alone], tmp_path)


def test_moments_are_few_and_the_last_is_now() -> None:
    line = Timeline()
    for at in range(100_000):
        line.add(Moment(at / 10, at, at, at, 0))
    assert MOST_MOMENTS // 3 < len(line.moments) <= MOST_MOMENTS
    assert line.moments[0].tests == 0
    assert line.moments[-1].tests == 99_999
    seconds = [moment.seconds for moment in line.moments]
    apart = [later - earlier for earlier, later in pairwise(seconds[:-1])]
    assert max(apart) < 4 * min(apart)


def test_times_that_stand_still_are_few(tmp_path: Path) -> None:
    line = Timeline()
    for at in range(1000):
        line.add(Moment(1.0, at, at, at, 0))
    assert [moment.tests for moment in line.moments] == [0, 999]


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("failure", [StorageError("the disk is full", "x"), ZeroDivisionError("x\x1b")])
def test_no_page_makes_no_campaign_fail(
    failure: Exception,
    as_json: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    recorded.write(tmp_path)
    found = read(tmp_path)

    def fail(_: object) -> str:
        raise failure

    monkeypatch.setattr(campaign, "document", fail)
    run.tell([Result(found.summary, tmp_path, 1)], as_json)
    said = capsys.readouterr()
    assert "warning: there is no page of this campaign: " in said.err
    assert "\x1b" not in said.err
    assert json.loads(said.out)["v"] == 1 if as_json else "bugs 2" in said.out


def test_the_page_of_run(tmp_path: Path) -> None:
    recorded.write(tmp_path)
    run.tell([Result(read(tmp_path).summary, tmp_path, 1)], True)
    assert "my prog" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("words", [["--html", "a", "--lcov", "b"], ["--json"], ["--json", "--html", "a"], []])
def test_of_several_campaigns_there_is_only_a_page(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    recorded.write(tmp_path)
    assert main.main(["report", str(tmp_path), str(tmp_path), *words]) == 2
    assert "only a page" in capsys.readouterr().err
    assert not list(tmp_path.glob("[ab]"))


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[], int]]:
    """Makes a page as a new process would, and says how many templates were compiled for it. The cache is empty at
    first."""
    recorded.write(tmp_path)
    found, compiled = read(tmp_path), list[str]()
    compile_one = jinja2.Environment.compile
    expected = campaign.document(found)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def counted(self: jinja2.Environment, source: str, *words: Any) -> Any:
        compiled.append(source)
        return compile_one(self, source, *words)

    def make() -> int:
        compiled.clear()
        render._environment.cache_clear()
        assert campaign.document(found) == expected
        return len(compiled)

    monkeypatch.setattr(jinja2.Environment, "compile", counted)
    yield make
    render._environment.cache_clear()


def test_templates_are_compiled_once(fresh: Callable[[], int], monkeypatch: pytest.MonkeyPatch) -> None:
    assert fresh() > 1
    assert fresh() == 0
    monkeypatch.setattr(jinja2, "__version__", "0")  # which may compile them to something else
    assert fresh() > 1
    assert fresh() == 0


def test_damaged_templates_are_compiled_again(fresh: Callable[[], int], tmp_path: Path) -> None:
    first = fresh()
    for path in (tmp_path / "cache/score-embed/pages").iterdir():
        path.write_bytes(path.read_bytes()[:-40])
    assert (fresh(), fresh()) == (first, 0)


def test_a_page_needs_no_cache(fresh: Callable[[], int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "file").write_text("")
    monkeypatch.setattr("tempfile.NamedTemporaryFile", full)
    assert fresh()
    assert fresh()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert fresh()


@pytest.mark.parametrize(
    ("file", "shown"), [("a.c", ("", "a.c")), ("/x/a.c", ("/x/", "a.c")), ("/long" * 20 + "/b/a.c", ("…/b/", "a.c"))]
)
def test_brief_names(file: str, shown: tuple[str, str]) -> None:
    assert render.brief(file) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0 ms"), (0.25, "250 ms"), (8.04, "8.04 s"), (119.0, "119 s"), (3600.0, "60 min"), (1e5, "27.8 h")],
)
def test_times_in_words(value: float, shown: str) -> None:
    assert render.seconds(value) == shown


def test_clients_that_did_less_are_on_the_plot() -> None:
    """A speed-up below 1 left the plot of powers of two."""
    chart = over_clients("speed-up", [("measured", [(1, 1.0), (2, 0.167), (4, 3.0)])], doubling=True)
    marks = re.findall(r"<text[^>]*>([^<]*)</text>", chart.svg)
    assert marks[:6] == ["0.125", "0.25", "0.5", "1", "2", "4"]
    assert "at the end: measured 3" in chart.told
