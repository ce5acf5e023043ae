"""What is written for scripts is what its type says, and is read back with that type."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import recorded
from msgspec import structs
from runner import read_summary

from score_embed.contract.judged import Judged
from score_embed.contract.words import Statement, Vector
from score_embed.errors import UsageError
from score_embed.fleet.process import experiment
from score_embed.report import findings, regression
from score_embed.results import json_text, summary, trial
from score_embed.results.criteria import Condition, Fewest, Goal, MadeDecision, Mcdc, MissingStatement, Statements
from score_embed.results.fleet import ClientFigures, FleetFigures
from score_embed.results.parts import CONFINED, FLEET, JUDGED, REFUSED, WITNESS, Confined
from score_embed.results.store import Store
from score_embed.results.summary import Summary
from score_embed.results.testcase import TestCase, TestFile
from score_embed.results.witnessed import WitnessState

GROUPS = ("statements", "mcdc", "goal", "confined", "fleet", "witness")  # `{}` if there was none
FLEET_OF_ONE = FleetFigures((ClientFigures("1", 4, 2.0, 0.5),), {"Req": 1}, 4, 1, 2.0, {"relayed": 1})


def of(folder: Path) -> Summary:
    with Store.read(folder) as record:
        return summary.of(record)


def test_the_file_is_what_its_type_says(tmp_path: Path) -> None:
    recorded.write(tmp_path)
    found = of(tmp_path)
    plain = json.loads(summary.text(found))
    assert [name for name in plain if plain[name] == {}] == list(GROUPS)
    assert list(plain) == list(Summary.__struct_fields__)
    assert read_summary(summary.text(found)) == found
    assert json.loads(summary.text(found, found)) == [plain, plain]
    summary.write(found, tmp_path)
    assert (tmp_path / summary.FILE).read_text(encoding="ascii") == summary.text(found) + "\n"


def test_every_group_is_written(tmp_path: Path) -> None:
    recorded.write(tmp_path)
    with Store.open(tmp_path) as record:
        record.put(FLEET, FLEET_OF_ONE)
        record.put(CONFINED, Confined(("files",), ("calls: no",), ("the net",)))
        record.put(REFUSED, (("socket", "a.c", 3, 2),))
        record.put(WITNESS, WitnessState(1.5, "no gcc"))
        accepted = Judged("accept", f"{recorded.A}:3", "so what", "h.yaml:2")
        record.put(JUDGED, (accepted, Judged("refuse", "x.c:1", "", "h:3")))
        record.commit()
    found = of(tmp_path)
    constant = Condition("1", Vector.CONSTANT, Vector.CONSTANT, value=True)
    shown = Condition("a", Vector.SHOWN, Vector.OPEN, missing=(), pair=())
    decision = MadeDecision("a.c", 2, "f", "a && 1", ("TT",), (shown, constant))
    counts = dict.fromkeys(Vector, 1)
    whole = structs.replace(
        found,
        statements=Statements(3, 1, 1, 0, 1, (MissingStatement("a.c", 3, "f", Statement.OPEN),)),
        mcdc=Mcdc(1, 2, counts, counts, True, 4, 0, 0, 0, Fewest((1, 2), True), (decision,)),
        goal=Goal("mcdc", False, False, 1),
    )
    plain = json.loads(summary.text(whole))
    assert all(plain[name] for name in GROUPS)
    assert read_summary(summary.text(whole)) == whole
    assert plain["mcdc"]["table"][0]["conditions"] == [
        {"condition": "a", "masking": "shown", "unique_cause": "open", "missing": [], "pair": []},
        {"condition": "1", "masking": "constant", "unique_cause": "constant", "value": True},
    ]
    (judged,) = plain["judged"]
    assert [judged[key] for key in ("judged", "as", "why", "at")] == ["accept", f"{recorded.A}:3", "so what", "h.yaml:2"]
    assert "as" not in plain["bugs"][0]
    assert plain["judged_unmatched"] == [{"judged": "refuse", "as": "x.c:1", "why": "", "at": "h:3"}]
    assert plain["fleet"]["clients"] == [{"name": "1", "tests": 4, "seconds": 2.0, "busy": 0.5, "waiting": 1.5}]


def test_a_name_that_is_no_text_is_written_and_read(tmp_path: Path) -> None:
    recorded.write(tmp_path)
    found = structs.replace(of(tmp_path), program="b\udcff.c")
    assert read_summary(summary.text(found)).program == "b\udcff.c"
    summary.write(found, tmp_path)
    assert json_text.read((tmp_path / summary.FILE).read_bytes(), experiment._Ended).stopped == "drained"


def test_a_tests_file_is_what_its_type_says(tmp_path: Path) -> None:
    case = TestCase(7, b"\1", {"x": 1, "n": 2**100, "s": '"é"'}, "return", 0, 0x1234, "", "said\n", {"cc": "1"})
    case.write(tmp_path)
    (file,) = tmp_path.glob("*.json")
    written = json_text.read(file.read_bytes(), TestFile)
    assert (written.test, written.path, written.shown, written.witness) == (7, "0000000000001234", None, "")
    assert dict(written.inputs) == dict(case.inputs)
    assert not {"shown", "witness"} & set(json.loads(file.read_bytes()))


NOT_OURS = [b"", b"{", b"[]", b"\xff", b'{"campaign": 1}', b'{"campaign": "c", "root": "r", "tests": [1]}']


@pytest.mark.parametrize("text", NOT_OURS)
def test_what_is_no_regression_is_refused_in_one_sentence(text: bytes) -> None:
    with pytest.raises(UsageError, match="this is not what `run --regress --json` prints: "):
        regression.read_document(text)


# Trials are read from records ------------------------------------------------------------------------------------------


def test_a_trial_of_a_fleet(tmp_path: Path) -> None:
    recorded.write(tmp_path)
    alone = trial.distributed(tmp_path, 1, 5)
    assert (alone.tests, alone.paths, alone.seconds, alone.workload) == (4, 3, 1.5, (4,))
    assert (alone.covered, alone.directions) == (len(findings_of(tmp_path).covered), 8)
    with Store.open(tmp_path) as record:
        record.put(FLEET, FLEET_OF_ONE)
        record.commit()
    found = trial.distributed(tmp_path, 3, 5)
    assert found.fleet is not None
    assert [client.name for client in found.fleet.clients] == ["1", "late 1", "late 2"]
    assert (found.workload, found.is_distributed) == ((4, 0, 0), True)


def test_a_trial_of_campaigns_that_know_nothing_of_each_other(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
        recorded.write(folder)
    found = trial.independent(folders, 5)
    assert (found.tests, found.paths, found.workload, found.is_distributed) == (8, 3, (4, 4), False)
    assert (found.useful, found.folders) == (3 / 8, tuple(folders))


def test_a_campaign_without_a_test_is_no_trial(tmp_path: Path) -> None:
    Store.create(tmp_path).close()
    with pytest.raises(UsageError, match="has run no test"):
        trial.distributed(tmp_path, 1, 0)


def findings_of(folder: Path) -> findings.Findings:
    with Store.read(folder) as record:
        return findings.read(record)
