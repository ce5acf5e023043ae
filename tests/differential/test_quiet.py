"""Probes inline against the same program with all of them called (runtime/quiet.h): no run may show a difference.

Addresses differ, for code has another size: so events, and operands, which may be addresses, are not compared.
"""

from __future__ import annotations

import random
from pathlib import Path

import corpus
import pytest
from generator import program

from score_embed.contract.outcome import Run, Verdict
from score_embed.image import toolchain
from score_embed.image.toolchain import Toolchain

INPUTS = 100
SEVERAL = [found for found in corpus.programs() if len(found.sources) > 1]
Facts = tuple[Verdict, int, int, int, int, int, tuple[int, ...], bytes]


def facts(board: str, source: tuple[Path, ...], size: int) -> list[Facts]:
    choose = random.Random(1)
    inputs = [choose.randbytes(size) for _ in range(INPUTS)]
    with corpus.target_of(board, corpus.build(board, source)) as target:
        runs = [target.run(Run(number, data, max_branches=20_000)) for number, data in enumerate(inputs, 1)]
    return [(r.verdict, r.code, r.path_hash, r.conditions, r.branches, r.unchecked, r.coverage, r.output) for r in runs]


def compare(board: str, source: tuple[Path, ...], size: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inline = facts(board, source, size)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))  # the build id says nothing of that
    monkeypatch.setattr(Toolchain, "_quiet", lambda tools, source: [])
    assert inline == facts(board, source, size)


@pytest.mark.parts(48)
@pytest.mark.parametrize("board", ["native", "native32", "mps2-an385"])
@pytest.mark.parametrize("found", corpus.programs(), ids=lambda found: found.name)
def test_programs(board: str, found: corpus.TestProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compare(board, found.sources, found.size, tmp_path, monkeypatch)


@pytest.mark.parts(12)
@pytest.mark.parametrize("board", ["native", "native32", "mps2-an385"])
@pytest.mark.parametrize("found", SEVERAL, ids=lambda found: found.name)
def test_some_files_are_too_large(
    board: str, found: corpus.TestProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then their probes are called, beside others that are inline."""
    inline = facts(board, found.sources, found.size)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    told, compiled = Toolchain._quiet, []

    def quiet(tools: Toolchain, source: Path) -> list[str]:
        compiled.append(source)
        monkeypatch.setattr(toolchain, "QUICK", 0 if len(compiled) % 2 else 1 << 30)
        return told(tools, source)

    monkeypatch.setattr(Toolchain, "_quiet", quiet)
    assert inline == facts(board, found.sources, found.size)
    assert len(compiled) > 1


@pytest.mark.parts(80)
@pytest.mark.parametrize("seed", range(80))
def test_generated_programs(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "p.c"
    source.write_text(program(seed, 10))
    compare("native" if seed % 2 else "mps2-an385", (source,), 3, tmp_path, monkeypatch)
