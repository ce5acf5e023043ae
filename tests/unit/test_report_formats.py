"""Reports of a record made by hand: text, lcov, JUnit, SARIF."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pages
import pytest
import recorded
from msgspec import structs

from score_embed.cli import show
from score_embed.contract.judged import ACCEPT, Judged
from score_embed.contract.outcome import Verdict
from score_embed.errors import UsageError, printable
from score_embed.report import ctext, findings, fingerprints, gcovr, junit, kinds, lcov, sarif, text, unity
from score_embed.report.findings import Findings
from score_embed.results import parts, summary
from score_embed.results.known_bugs import OpenBugs, identity, read_baseline
from score_embed.results.sourcemap import SourceMap
from score_embed.results.store import Store

Golden = Callable[[str, str], None]


def read(folder: Path) -> Findings:
    with Store.read(folder) as record:
        return structs.replace(findings.read(record), folder=Path("score-out/x y"))


@pytest.fixture
def found(tmp_path: Path) -> Findings:
    recorded.write(tmp_path)
    return read(tmp_path)


def test_text(found: Findings, golden: Golden) -> None:
    golden("report.txt", "".join(printable(line) + "\n" for line in text.full(found)))


def test_what_run_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str], golden: Golden) -> None:
    recorded.write(tmp_path)
    with Store.read(tmp_path) as record:
        show.result(structs.replace(findings.read(record, 3), folder=Path("out")))
    golden("run.txt", capsys.readouterr().out)


def test_lcov(found: Findings, golden: Golden) -> None:
    golden("report.info", lcov.tracefile(found))


def test_decisions_of_a_line_are_told_apart_by_how_many_conditions_they_have(tmp_path: Path) -> None:
    recorded.write(tmp_path)
    with Store.open(tmp_path) as record:
        pages.decided(record)
    lines = [line for line in lcov.tracefile(read(tmp_path)).splitlines() if line.startswith("MC")]
    assert lines == [
        "MCDC:2,2,t,0,0,x > 0 / z",
        "MCDC:2,2,f,1,0,x > 0 / z",
        "MCDC:2,2,t,0,1,y / x > 0",
        "MCDC:2,2,f,1,1,y / x > 0",
        "MCDC:3,1,t,1,0,y",
        "MCDC:3,1,f,1,0,y",
        "MCF:6",
        "MCH:4",
    ]


def test_gcovr_knows_conditions(tmp_path: Path) -> None:
    recorded.write(tmp_path)
    with Store.open(tmp_path) as record:
        pages.decided(record)
    plain = json.loads(gcovr.document(read(tmp_path)))
    found = {line["line_number"]: line["conditions"] for line in plain["files"][1]["lines"] if "conditions" in line}
    full: dict[str, list[int]] = {"not_covered_true": [], "not_covered_false": []}
    assert found == {
        2: [
            {"conditionno": 0, "count": 4, "covered": 2, "not_covered_true": [0, 1], "not_covered_false": []},
            {"conditionno": 1, "count": 4, "covered": 4, **full},
        ],
        3: [{"conditionno": 0, "count": 2, "covered": 2, **full}],
    }


def test_junit(found: Findings, golden: Golden) -> None:
    made = junit.document(found)
    suite = ET.fromstring(made)[0]
    cases = suite.findall("testcase")
    assert (suite.get("tests"), suite.get("failures")) == (str(len(cases)), "2")
    assert len(suite.findall("testcase/failure")) == 2
    golden("report.xml", made)


def test_sarif(found: Findings, golden: Golden) -> None:
    made = sarif.document(found)
    check_sarif(json.loads(made))
    golden("report.sarif", made)


def check_sarif(log: dict[str, Any]) -> None:
    """What the schema requires of the parts that we write."""
    assert set(log) == {"$schema", "version", "runs"}
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in run["results"]:
        assert result["message"]["text"]
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning")
        assert list(result["partialFingerprints"])
        for location in result.get("locations", []):
            check_location(location, run["originalUriBaseIds"])
        for stack in result.get("stacks", []):
            assert stack["frames"]
        for flow in result.get("codeFlows", []):
            assert flow["threadFlows"][0]["locations"]
    (invocation,) = run["invocations"]
    assert isinstance(invocation["executionSuccessful"], bool)
    for notification in invocation["toolExecutionNotifications"]:
        assert notification["message"]["text"]
        for location in notification.get("locations", []):
            check_location(location, run["originalUriBaseIds"])


def check_location(location: dict[str, Any], bases: dict[str, Any]) -> None:
    physical = location.get("physicalLocation")
    if physical is None:
        return
    artifact = physical["artifactLocation"]
    if "uriBaseId" in artifact:
        assert bases[artifact["uriBaseId"]]["uri"].endswith("/")
        assert not artifact["uri"].startswith(("/", ".."))
    else:
        assert artifact["uri"].startswith("file:///")
    assert " " not in artifact["uri"]
    assert physical.get("region", {"startLine": 1})["startLine"] > 0


def test_every_kind_of_bug_has_a_rule() -> None:
    assert {verdict.value for verdict in Verdict if verdict.is_bug} <= set(kinds.RULES)


def test_fingerprints_are_those_of_the_defect(found: Findings) -> None:
    def prints(changed: Findings) -> list[str]:
        (run,) = json.loads(sarif.document(changed))["runs"]
        return [result["partialFingerprints"][sarif.FINGERPRINT] for result in run["results"]]

    bug, other = found.bugs
    moved = structs.replace(bug, line=5, test=9, inputs={"x": 3}, count=1)
    texts: dict[str, tuple[str, ...]] = {recorded.A: ("", "", *recorded.TEXT_A)}
    elsewhere = structs.replace(found.sources, root="/tmp", texts=texts)
    assert prints(structs.replace(found, sources=elsewhere, bugs=(moved, other))) == prints(found)
    for field, value in (("line", 2), ("function", "g"), ("file", "c.c"), ("stack", ("f",))):
        change: dict[str, Any] = {field: value}
        assert prints(structs.replace(found, bugs=(structs.replace(bug, **change),)))[0] != prints(found)[0]
    twice = prints(structs.replace(found, bugs=(bug, structs.replace(bug, test=4))))
    assert len(set(twice)) == 2


def test_the_source_map_survives_json() -> None:
    made = recorded.source_map()
    assert parts.decode(parts.encode(made), SourceMap) == made
    assert made.text(recorded.A, 3) == "switch (x) {"
    assert (made.text(recorded.A, 0), made.text(recorded.A, 99), made.text("none.c", 1)) == ("", "", "")


@pytest.mark.parametrize(("recorded_end", "shown"), [(None, "killed"), ("time", "time")])
def test_ends(tmp_path: Path, recorded_end: str | None, shown: str) -> None:
    recorded.write(tmp_path, recorded_end)
    found = read(tmp_path)
    assert found.summary.stopped == shown
    assert any("--resume 'score-out/x y'" in line for line in text.full(found))


def test_a_campaign_that_runs_is_read_beside_it(tmp_path: Path) -> None:
    recorded.write(tmp_path, None)
    with Store.open(tmp_path) as running:
        running.add_coverage([7], 4)  # not committed yet
        found = read(tmp_path)
        assert found.summary.stopped == "running"
        assert 7 not in found.covered
        running.commit()
    assert 7 in read(tmp_path).covered


def test_nothing_to_report_yet(tmp_path: Path) -> None:
    Store.create(tmp_path).close()
    with Store.read(tmp_path) as record, pytest.raises(UsageError, match="no test yet"):
        summary.of(record)


def test_unity_text(tmp_path: Path, golden: Golden) -> None:
    program = {"entry": None, "sources": ["src/a b.c", "lib/b.c"]}
    recorded.write(tmp_path, program=program)
    found = read(tmp_path)
    whole = unity.document(found, found.kept, Path("/home/me/pro ject/tests/test_x.c"))
    head, _, rest = whole.partition("/* --- how a test is run")
    golden("unity.c", head + rest[rest.index("void tearDown(void) {}") :])


@pytest.mark.parametrize(
    ("value", "c"),
    [
        (0, "0"),
        (-5, "-5"),
        (2**31, "2147483648LL"),
        (-(2**63), "(-9223372036854775807LL - 1)"),
        (2**64 - 1, "18446744073709551615ULL"),
    ],
)
def test_numbers_in_c(value: int, c: str) -> None:
    assert ctext.number(value) == c


def test_texts_in_c() -> None:
    assert ctext.string('a"\\?\n1ü') == '"a\\042\\134\\077\\0121\\303\\274"'
    assert ctext.comment("a */ b /* ü \n ??/") == "a * / b / * ? ? ? ?/"
    assert ctext.identifier("my-prog ü.c") == "my_prog___c"
    assert ctext.array(b"", "") == "{0x00}"
    assert ctext.array(bytes(17), "").count("0x00") == 17


# Baselines -----------------------------------------------------------------------------------------------------------


def test_a_baseline_knows_what_it_was_made_of(found: Findings, tmp_path: Path) -> None:
    path = tmp_path / "known.txt"
    path.write_text(fingerprints.baseline([found, found]))
    assert len(path.read_text().splitlines()) == len(found.bugs) + 1 > 2
    knowing = structs.replace(found, baseline=read_baseline(path))
    assert all(fingerprints.known(knowing))
    assert fingerprints.new(knowing) == []
    assert {result["baselineState"] for result in results(knowing)} == {"unchanged"}
    first, *others = path.read_text().splitlines()[1:]
    path.write_text(f"# a comment\n\n{first}\n")
    half = structs.replace(found, baseline=read_baseline(path))
    assert len(fingerprints.new(half)) == len(others)
    assert sorted(result["baselineState"] for result in results(half)) == ["new"] * len(others) + ["unchanged"]
    levels = [line.split(": ")[1] for line in text.bugs(half) if line[0] != " "]
    assert levels.count("note") == 1
    assert not any("baselineState" in result for result in results(found))
    assert fingerprints.new(found) == list(found.bugs)


def test_a_bug_is_open_unless_it_is_judged_or_known(found: Findings) -> None:
    bug, other = found.bugs[:2]
    ident = identity(bug, found.sources)
    assert OpenBugs(found.sources, (), frozenset()).has(bug)
    knowing = OpenBugs(found.sources, (), frozenset({f"{ident}:1"}))
    assert not knowing.has(bug)
    assert not knowing.has(bug)  # seen once more
    assert knowing.has(other)
    empty = SourceMap("/", {}, {}, (), 0, (), (), {})  # of which no line tells two bugs apart
    alike = OpenBugs(empty, (), frozenset({f"{identity(bug, empty)}:1"}))
    assert not alike.has(bug)
    assert alike.has(structs.replace(bug, line=bug.line + 1))  # the baseline knows one of them
    judged = Judged(ACCEPT, ident[:8], "meant", "hints:1")
    assert not OpenBugs(found.sources, (judged,), frozenset()).has(bug)


def test_what_the_baseline_knows_does_not_fail_in_junit(found: Findings, tmp_path: Path) -> None:
    path = tmp_path / "known.txt"
    path.write_text(fingerprints.baseline([found]))
    first, *others = path.read_text().splitlines()[1:]
    for lines, failing in (([], len(found.bugs)), ([first], len(others)), ([first, *others], 0)):
        path.write_text("\n".join(lines))
        root = ET.fromstring(junit.document(structs.replace(found, baseline=read_baseline(path))))
        (suite,) = root
        tests = {bug.test for bug in found.bugs}
        assert len(tests) == len(found.bugs) > 1
        assert len(suite.findall("testcase/failure")) == failing
        assert (root.get("failures"), suite.get("failures")) == (str(failing), str(failing))
        skipped = suite.findall("testcase/skipped")
        assert suite.get("skipped") == str(len(skipped)) == str(len(lines))
        assert all((case.get("message") or "").startswith("the baseline knows: ") for case in skipped)


def results(found: Findings) -> list[dict[str, Any]]:
    (run,) = json.loads(sarif.document(found))["runs"]
    rows: list[dict[str, Any]] = run["results"]
    return rows


@pytest.mark.parametrize("line", ["x", "0" * 32, "0" * 32 + ":0", "0" * 31 + "g:1", "\xff"])
def test_what_is_no_baseline(line: str, tmp_path: Path) -> None:
    path = tmp_path / "known.txt"
    path.write_bytes(b"# head\n" + line.encode("latin-1") + b"\n")
    with pytest.raises(UsageError) as error:
        read_baseline(path)
    assert error.value.where.endswith(":2")
    with pytest.raises(UsageError):
        read_baseline(tmp_path / "nowhere")


def test_a_bug_with_hundreds_of_values_stays_one_line() -> None:
    """A poll that never ends asks for a value each time."""
    values = {"y" if not n else f"y#{n + 1}": 0 for n in range(200)}
    shown = text.inputs(values, most=3)
    assert shown == "y = 0, y#2 = 0, y#3 = 0, and 197 more"
    assert text.inputs(values).count("=") == 200
    assert text.inputs({"x": 1, "z": 2}, most=2) == "x = 1, z = 2"
