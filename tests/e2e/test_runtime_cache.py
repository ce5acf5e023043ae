"""The runtime is compiled once for a board and its flags, and again when anything that decides its code differs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from footprint import on_the_desk
from msgspec.structs import replace

from score_embed.board.profile import Board, known_boards, load_board
from score_embed.image.compiling import runtime_objects
from score_embed.image.toolchain import Toolchain


@pytest.fixture
def native(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Board:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return load_board(known_boards()["native"])


def made(board: Board, monkeypatch: pytest.MonkeyPatch, *, verify: bool = False) -> tuple[list[Path], int]:
    """The objects, and how many of them were compiled now."""
    compiled: list[Path] = []
    compile_runtime = Toolchain.compile_runtime

    def counting(self: Toolchain, source: Path, output: Path, *, verify: bool) -> None:
        compiled.append(source)
        compile_runtime(self, source, output, verify=verify)

    with monkeypatch.context() as patch:
        patch.setattr(Toolchain, "compile_runtime", counting)
        return runtime_objects(Toolchain(board), verify=verify), len(compiled)


def files(board: Board) -> int:
    return len(Toolchain(board).runtime_sources(heap=False))


def test_the_runtime_is_compiled_once(native: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    first, compiled = made(native, monkeypatch)
    assert (compiled, len(first)) == (files(native), 1)
    assert made(native, monkeypatch) == (first, 0)


def test_on_a_board_it_is_one_at_the_link_only(native: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then gcc leaves out what the program does not use."""
    board = on_the_desk(load_board(known_boards()["stm32"]))
    first, compiled = made(board, monkeypatch)
    assert compiled == len(first) == len(set(first)) == files(board)
    assert made(board, monkeypatch) == (first, 0)


def test_many_compile_it_at_once(native: Board) -> None:
    """As a CI does whose jobs start together with an empty cache."""
    toolchain = Toolchain(native)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda verify: runtime_objects(toolchain, verify=verify), [True] * 4))
    assert len({tuple(objects) for objects in found}) == 1


def test_other_flags_make_other_objects(native: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    first, _ = made(native, monkeypatch)
    for board, verify in ((native, True), (replace(native, cflags=(*native.cflags, "-O0")), False)):
        others, compiled = made(board, monkeypatch, verify=verify)
        assert compiled == files(board)
        assert not set(others) & set(first)


def test_another_runtime_or_compiler_makes_other_objects(
    native: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = made(native, monkeypatch)
    compiler = tmp_path / "gcc"
    compiler.write_text('#!/bin/sh\nexec gcc "$@"\n')
    compiler.chmod(0o755)
    wrapped = replace(native, cc=str(compiler))
    second, compiled = made(wrapped, monkeypatch)
    assert compiled == files(wrapped)
    compiler.write_text('#!/bin/sh\n# a new version\nexec gcc "$@"\n')
    third, compiled = made(wrapped, monkeypatch)
    assert compiled == files(wrapped)
    assert len({*first, *second, *third}) == 3


def test_what_starts_as_zero_is_not_kept(native: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    """The taint map of a Linux process has 200 MiB."""
    objects, _ = made(native, monkeypatch)
    assert sum(path.stat().st_size for path in objects) < 2 << 20
