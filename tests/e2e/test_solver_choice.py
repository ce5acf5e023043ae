"""`--solver`: who answers, what a campaign keeps to, and a machine without Bitwuzla."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from runner import message, score_embed

from score_embed.results.parts import SETTINGS
from score_embed.results.store import Store

# Remainders of sums: no table, no few bytes, and local search finds no proof.
PROGRAM = """#include <stdint.h>
#include "score.h"
int main(void)
{
    uint16_t first, second;
    SYM_U16(first);
    SYM_U16(second);
    uint32_t a = first, b = second;
    if ((a ^ b * 77u) % 1021u == 1020u && (a * 31u + b) % 1019u == 5u && a < b) return 2;
    return 0;
}
"""
HIDDEN = """import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "bitwuzla" else found(name, *rest)
"""
WITHOUT = "--no-witness", "--json"


@pytest.fixture(name="source")
def _source(tmp_path: Path) -> Path:
    path = tmp_path / "remainders.c"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


def wanted(folder: Path) -> str:
    with Store.open(folder) as record:
        settings = record.get(SETTINGS)
    assert settings is not None
    return str(settings.solver)


@pytest.mark.parametrize("option", [(), ("--solver", "bitwuzla"), ("--solver", "z3")])
def test_who_answers_stands_in_the_record(option: tuple[str, ...], source: Path, tmp_path: Path) -> None:
    chosen = "z3" if "z3" in option else "bitwuzla"
    done = score_embed("run", *WITHOUT, *option, "--out", "out", str(source), cwd=tmp_path)
    by = json.loads(done.stdout)["solver"]["by"]
    assert (by["bitwuzla"] > 0) == (chosen == "bitwuzla")
    assert by["smt"] + by["bitwuzla"] > 0
    assert wanted(tmp_path / "out") == chosen


def test_a_campaign_keeps_to_its_solver(source: Path, tmp_path: Path) -> None:
    score_embed("run", *WITHOUT, "--solver", "z3", "--max-tests", "1", "--out", "out", str(source), cwd=tmp_path)
    refused = score_embed("run", "--resume", "out", "--solver", "bitwuzla", cwd=tmp_path)
    assert refused.returncode == 2
    assert "solver" in refused.stderr
    done = score_embed("run", "--json", "--resume", "out", "--max-tests", "100", cwd=tmp_path)
    assert json.loads(done.stdout)["solver"]["by"]["bitwuzla"] == 0
    assert wanted(tmp_path / "out") == "z3"


def without_bitwuzla(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """On a machine that does not have it."""
    (tmp_path / "sitecustomize.py").write_text(HIDDEN, encoding="utf-8")
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    return subprocess.run(
        [sys.executable, "-m", "score_embed.cli.main", *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_machine_without_it(source: Path, tmp_path: Path) -> None:
    done = without_bitwuzla(tmp_path, "run", *WITHOUT, "--out", "first", str(source))
    assert json.loads(done.stdout)["solver"]["by"]["smt"] > 0
    assert wanted(tmp_path / "first") == "z3"
    refused = without_bitwuzla(tmp_path, "run", *WITHOUT, "--solver", "bitwuzla", "--out", "second", str(source))
    assert (refused.returncode, len(message(refused.stderr))) == (2, 2)
    assert "Bitwuzla is not installed" in refused.stderr
    assert not (tmp_path / "second").exists()
    score_embed("run", *WITHOUT, "--max-tests", "1", "--out", "third", str(source), cwd=tmp_path)
    refused = without_bitwuzla(tmp_path, "run", "--resume", "third")
    assert (refused.returncode, len(message(refused.stderr))) == (2, 2)
    assert "pip install bitwuzla" in refused.stderr
