"""The probe runtime stays as small as docs/footprint.md says: sizes are the compiler's, the same every time."""

from __future__ import annotations

from pathlib import Path

import pytest
from footprint import bare_boards, footprint, on_the_desk, sums

from score_embed.board.profile import find_board
from score_embed.image.toolchain import Toolchain

MARGIN = 1.05  # of the figures reached, for the next version of the compiler
STATE = {"least": 464, "everything": 676}  # bytes of RAM besides taint bits and buffers
FLASH = {"least": 6500, "everything": 12640}  # of that 2.9 KiB are reads and stores at symbolic addresses, and checks


@pytest.mark.parametrize("board", ["stm32vldiscovery", "microbit"])
@pytest.mark.parametrize("program", FLASH)
def test_cortex_m(board: str, program: str, tmp_path: Path) -> None:
    found = sums(footprint(bare_boards()[board], program, tmp_path))
    assert 0 < found["flash"] <= FLASH[program] * MARGIN
    assert STATE[program] / MARGIN <= found["state"] <= STATE[program] * MARGIN
    assert min(found["probes"], found["events"], found["frames"], found["loop"], found["link"], found["faults"]) > 0


def test_what_is_not_used_costs_nothing(tmp_path: Path) -> None:
    board = bare_boards()["stm32vldiscovery"]
    assert (
        sums(footprint(board, "least", tmp_path))["probes"] < sums(footprint(board, "everything", tmp_path))["probes"]
    )


@pytest.mark.parametrize(
    ("board", "desk", "goal"),
    [
        ("native", False, "-O3"),
        ("mps2-an385", False, "-O3"),
        ("mps2-an385", True, "-Os"),
        ("riscv32-virt", False, "-Os"),
        ("arduino-uno", False, "-Os"),
    ],
)
def test_bytes_are_saved_where_there_is_flash(board: str, desk: bool, goal: str) -> None:
    found = find_board(board)
    flags = Toolchain(on_the_desk(found) if desk else found).runtime_flags()
    assert [flag for flag in flags if flag.startswith("-O")] == [goal]
