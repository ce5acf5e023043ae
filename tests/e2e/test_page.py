"""The pages of campaigns in a real browser: quiet, without requests, on any screen, for everybody, and doing what they
offer."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pages
import pytest
import recorded
from browser import DESK, NARROW, PHONE, Opened, browser, opened
from playwright.sync_api import Browser, Page
from runner import score_embed

from score_embed.report import findings
from score_embed.results.store import Store

OTHER = "javascript:alert(3)#?"  # a campaign's folder


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    pages.full(folder)
    other = folder / OTHER
    other.mkdir()
    recorded.write(other)
    (other / "report.html").write_text("<!doctype html><title>its own</title>")
    for name, folders in (("page", ["."]), ("project", [".", OTHER])):
        made = score_embed("report", *folders, "--html", f"{name}.html", cwd=folder)
        assert made.returncode == 0, made.stderr
    return folder


@pytest.fixture
def desk(chromium: Browser, place: Path) -> Iterator[Opened]:
    with opened(chromium, place / "page.html") as found:
        yield found
        assert found.is_quiet()


@pytest.mark.parametrize("name", ["page", "project"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE, NARROW], ids=["desk", "phone", "narrow"])
def test_any_screen(chromium: Browser, place: Path, size: tuple[int, int], dark: bool, name: str) -> None:
    with opened(chromium, place / f"{name}.html", size, dark) as found:
        assert found.width() == 0
        found.page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        assert found.width() == 0
        assert not found.violations()
        assert found.is_quiet()


@pytest.mark.parametrize("size", [DESK, PHONE, NARROW], ids=["desk", "phone", "narrow"])
def test_long_names_and_vectors_fit(chromium: Browser, tmp_path: Path, size: tuple[int, int]) -> None:
    pages.wide(tmp_path)
    for name, folders in (("page", ["."]), ("project", [".", "."])):
        made = score_embed("report", *folders, "--html", f"{name}.html", cwd=tmp_path)
        assert made.returncode == 0, made.stderr
        with opened(chromium, tmp_path / f"{name}.html", size) as found:
            assert found.width() == 0
            found.page.emulate_media(media="print")
            assert found.width() == 0


def test_print(desk: Opened) -> None:
    desk.page.emulate_media(media="print")
    assert desk.width() == 0
    assert not desk.page.locator("header.top, .filter, .copy").filter(visible=True).count()
    assert desk.page.locator(".bug").first.is_visible()


def test_tables_sort_and_filter(desk: Opened) -> None:
    functions = desk.shown("t-functions")
    assert len(functions) == 2
    taken = desk.page.locator("#t-functions th", has_text="Taken").first.get_by_role("button")
    taken.click()
    least = desk.shown("t-functions")
    assert sorted(least) == sorted(functions)
    assert "1/2" in least[0]
    taken.click()
    assert desk.shown("t-functions")[-1] == least[0]
    assert desk.page.locator("#t-functions th[aria-sort]").get_attribute("aria-sort") == "descending"
    box = desk.page.locator('.filter[data-for="t-clients"]')
    box.get_by_role("searchbox").fill("CLIENT 104")
    assert desk.shown("t-clients") == ["client 4 104 34 s 6 s"]
    assert box.locator("output").inner_text() == "1 of 8"
    box.get_by_role("searchbox").fill("")
    assert len(desk.shown("t-clients")) == 8


def test_functions_that_nothing_reached_are_folded(desk: Opened) -> None:
    assert not desk.shown("t-others")
    desk.page.get_by_text("1 function of which no branch was reached").click()
    (other,) = desk.shown("t-others")
    assert other.split()[-1] == "1"  # its directions


@pytest.mark.parametrize("size", [PHONE, NARROW], ids=["phone", "narrow"])
def test_on_a_phone(chromium: Browser, place: Path, size: tuple[int, int]) -> None:
    """All parts can be gone to, no word of a verdict or command is cut, and inputs have room."""
    for name in ("page", "project"):
        with opened(chromium, place / f"{name}.html", size) as found:
            page = found.page
            links = page.locator("nav a")
            assert links.count() >= 5
            links.last.click()
            top, bar = (page.locator(each).bounding_box() for each in (page.url[page.url.index("#") :], "header.top"))
            assert top
            assert bar
            assert top["y"] >= bar["height"] - 1  # not below the bar
            for each in page.locator(".pill, .command .word").filter(visible=True).all():
                box = each.bounding_box()
                assert box
                assert box["height"] < 40, each.inner_text()
            for each in page.locator(".inputs td").filter(visible=True).all():
                box = each.bounding_box()
                assert box
                assert box["width"] > size[0] / 3


def test_decisions_say_what_is_missing(desk: Opened) -> None:
    first, second, third = desk.shown("t-decisions")
    assert "x > 0 open never decides as true" in first
    assert "2/2" in second
    assert "sizeof(int) == 4 constant" in third
    remark = desk.page.locator("#sources p.n", has_text="MC/DC open")
    assert "x > 0 never decides as true; y never decides as true" in remark.inner_text()


def test_reasons_filter(desk: Opened) -> None:
    every = desk.shown("t-gaps")
    assert len(every) == 3
    chips = desk.page.locator(".chips[data-for=t-gaps]")
    chips.get_by_role("button", name="impossible").click()
    (left,) = desk.shown("t-gaps")
    assert "case 1" in left
    chips.get_by_role("button", name="waiting").click()
    assert len(desk.shown("t-gaps")) == 2
    chips.get_by_role("button", pressed=True).first.click()
    chips.get_by_role("button", pressed=True).first.click()
    assert desk.shown("t-gaps") == every


def test_search_finds_lines_functions_and_bugs(desk: Opened) -> None:
    page = desk.page
    page.keyboard.press("/")
    page.keyboard.type("switch (")
    hit = page.locator("#hits a")
    hit.first.wait_for()
    assert hit.all_inner_texts() == ["src/a b.c:3\nswitch (x) {"]
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = false; })")
    hit.first.click()
    assert page.locator(".l:target", has_text="switch (x)").is_visible()
    assert not page.locator("#hits").is_visible()
    page.locator("#search").fill("division")
    page.locator("#hits a", has_text="Bug").wait_for()
    assert "division-by-zero" in hit.first.inner_text()
    page.locator("#search").fill("no such thing")
    page.locator("#hits", has_text="0 places").wait_for()


def test_links_lead_to_lines(desk: Opened, chromium: Browser, place: Path) -> None:
    page = desk.page
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = false; })")
    page.locator(".bug .at").first.click()
    line = page.locator(".l:target")
    line.wait_for()
    assert "switch (x) {" in line.inner_text()
    with opened(chromium, place / "page.html", fragment="#" + page.url.partition("#")[2]) as again:
        assert again.page.locator(".l:target").is_visible()
    page.keyboard.press("n")
    page.keyboard.press("n")
    assert page.locator(".l:target").count() == 1


def test_reasons_stand_at_the_line_and_fold(desk: Opened) -> None:
    remark = desk.page.locator(".n.r-unsat")
    assert "never case 1 impossible on the one path" in " ".join(remark.inner_text().split())
    desk.page.get_by_role("button", name="Hide reasons").click()
    assert not remark.is_visible()
    assert desk.page.locator(".n.r-bug").first.is_visible()


def test_light_and_dark_by_hand(desk: Opened) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    seen = [desk.page.evaluate(colour)]
    for _ in range(3):
        desk.page.locator("#theme").click()
        seen.append(desk.page.evaluate(colour))
    assert seen[0] == seen[1] == seen[3] != seen[2]


def test_plots(desk: Opened) -> None:
    plots = desk.page.locator("figure.chart svg")
    assert plots.count() == 5
    assert plots.first.locator("> title").text_content() == "Paths and tests over time"
    assert not desk.page.locator("figure.chart svg script, figure.chart svg style").count()
    assert re.match(r"M[\d.]+ ", desk.page.locator("figure.chart path.line").last.get_attribute("d") or "")


def test_a_project(chromium: Browser, place: Path) -> None:
    with opened(chromium, place / "project.html") as found:
        rows = found.shown("t-campaigns")
        assert [row.split()[0] for row in rows] == ["my", "my"]
        assert found.page.locator("article.bug").count() == 2  # both campaigns found the same two
        assert found.page.locator("article.bug").first.locator("code.run").count() == 2
        assert found.is_quiet()
        found.page.locator("#t-campaigns a").click()
        assert found.page.title() == "its own"


BUGGY = """
#include "score.h"
int main(void)
{
    unsigned char b[3];
    SYM_BYTES(b, 3);
    int steps = 0;
    for (int i = 0; i < 3; i++)
        if (b[i] > 100)
            steps++;
    return steps == 3 ? 100 / (b[0] - 200) : steps;
}
"""


def test_the_page_that_run_leaves(chromium: Browser, tmp_path: Path) -> None:
    """Its commands do what they say, and a campaign that goes on goes on in its plots."""
    (tmp_path / "b.c").write_text(BUGGY)
    first = score_embed("run", "--out", "o ut", "--max-tests", "2", "b.c", cwd=tmp_path)
    assert first.returncode in (0, 1), first.stderr
    assert score_embed("run", "--resume", "o ut", cwd=tmp_path).returncode == 1
    with Store.read(tmp_path / "o ut") as record:
        moments = findings.read(record).moments
    assert [moment.seconds for moment in moments] == sorted(moment.seconds for moment in moments)
    assert (moments[0].tests, moments[-1].tests) == (0, max(moment.tests for moment in moments))
    assert moments[-1].bugs == 1
    with opened(chromium, tmp_path / "o ut" / "report.html") as found:
        commands = found.page.locator(".bug code.run").all_inner_texts()
        assert found.page.locator(".bug .here").inner_text().split() == ["11", *BUGGY.splitlines()[10].split()]
        assert found.is_quiet()
    replay, debug = commands
    again = score_embed(*shlex.split(replay)[1:], cwd=tmp_path)
    assert "division-by-zero" in again.stdout, again.stdout + again.stderr
    include = Path(__file__).parents[2] / "runtime" / "include"
    subprocess.run(["gcc", "-I", str(include), "b.c"], cwd=tmp_path, check=True, timeout=60)
    crashed = subprocess.run(["sh", "-c", debug], cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert crashed.returncode in (128 + signal.SIGFPE, -signal.SIGFPE)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE, NARROW], ids=["desk", "phone", "narrow"])
def test_a_simulated_fleet(chromium: Browser, tmp_path: Path, size: tuple[int, int], dark: bool) -> None:
    made = score_embed("fleet", "simulate", "--clients", "1,4,16", "--tests", "40", "--html", "p.html", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    with opened(chromium, tmp_path / "p.html", size, dark) as found:
        assert found.width() == 0
        assert not found.violations()
        assert found.page.locator("figure.chart svg").count() == 4
        assert [row.split()[0] for row in found.shown("table-3")] == ["1", "4", "16"]
        assert found.shown("table-3-paper")[0] == "efficiency 64 1.25 0.92 0.63 0.44 0.56 0.33"
        assert found.is_quiet()


def test_an_experiment(chromium: Browser, tmp_path: Path) -> None:
    """Its tables sort, and its trials lead to the pages of their campaigns."""
    program = Path(__file__).parents[2] / "examples" / "max3.c"
    words = ("--clients", "1,2", "--independent", "--out", "o ut", str(program))
    made = score_embed("experiment", *words, cwd=tmp_path, deadline=120)
    assert made.returncode == 0, made.stderr
    with opened(chromium, tmp_path / "o ut" / "report.html") as found:
        assert not found.violations()
        head = found.page.locator("#table-3-paper th", has_text="ptok1").get_by_role("button")
        head.click()
        head.click()
        assert found.shown("table-3-paper")[0].startswith("tests 256 322345 559250")
        assert found.page.locator("#t-trials tbody tr").count() == 3
        assert found.is_quiet()
        found.page.locator("#t-trials a").first.click()
        assert found.page.title().startswith("max3")


def _laid_out(page: Page, within: str) -> int:
    """The elements below those which `within` selects that the browser has styled and laid out by now."""
    script = """(within) => [...document.querySelectorAll(within)]
        .filter((each) => each.checkVisibility({ contentVisibilityAuto: true })).length"""
    return int(page.evaluate(script, f"{within} *"))


def test_a_large_program(chromium: Browser, tmp_path: Path) -> None:
    pages.large(tmp_path / "large")
    made = score_embed("report", "large", "--html", "page.html", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    file = tmp_path / "page.html"
    assert file.stat().st_size < 10_000_000
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(file.as_uri())
    assert page.locator(".l").count() > 9_000
    # What a page costs is what is laid out of it. Seconds say the same only where nothing else runs.
    assert page.locator("body *").count() > 60_000
    assert _laid_out(page, "#tests table") == 0
    assert _laid_out(page, "body") < 20_000
    page.locator("#open").click()
    assert page.locator("details.file[open] .l").count() > 9_000
    assert _laid_out(page, "#sources .l") < 1_000
    tests = page.locator("#t-tests")
    assert not tests.is_visible()
    page.locator("#tests summary").click()
    assert tests.is_visible()
    page.locator("[data-for='t-tests'] input").fill("1999")
    assert tests.locator("tbody tr").filter(visible=True).count() == 1
    context.close()


MARKUP = (
    "</script></style></title></textarea><img src=x onerror=alert(1)><svg onload=alert(2)>{{7*7}}{% raw %}'\"`-->]]>"
)


def test_what_a_record_says_is_only_text(chromium: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, evil in enumerate((pages.EVIL, MARKUP, "javascript:alert(3)//", "\ud800\u202e&#x3c;b&#x3e;")):
        folder = tmp_path / str(number)
        folder.mkdir()
        pages.hostile(folder, monkeypatch, evil.encode("utf-8", "replace").decode())
        for words in ((".",), (".", ".")):
            made = score_embed("report", *words, "--html", "page.html", cwd=folder)
            assert made.returncode == 0, made.stderr
            with opened(chromium, folder / "page.html") as found:
                page = found.page
                page.locator("#search").fill("a")
                assert not page.locator(
                    "main img, main script, main svg[onload], main b > b, [href^=javascript]"
                ).count()
                assert all(not name.startswith("on") for name in attributes(found))
                assert found.is_quiet()


def attributes(found: Opened) -> list[str]:
    names: list[str] = found.page.evaluate(
        "[...new Set([...document.querySelectorAll('*')].flatMap((e) => e.getAttributeNames()))]"
    )
    return names
