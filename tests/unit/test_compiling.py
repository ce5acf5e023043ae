"""Compiling what was instrumented: the user is told of his files, not of those in the working folder."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from score_embed.board.profile import find_board
from score_embed.errors import BuildError
from score_embed.image import toolchain
from score_embed.image.compiling import Files, compiled


class _Slow:
    """A toolchain whose compiler never ends with what has probes."""

    def compile_instrumented(self, source: Path, output: Path, own: object, *, verify: bool) -> None:
        toolchain.execute(["sleep", "60"], str(source))

    def compile_identity(self, source: Path, output: Path) -> None:
        pass

    def check_source(self, path: Path, own: object, *, probes: bool) -> None:
        pass


def test_a_compiler_that_does_not_finish_is_said_of_the_users_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolchain, "DEADLINE", 0.05)
    large = Path("large.c")
    program = cast(Any, SimpleNamespace(texts=["int x;\n"], library="", heap=False))
    steps: list[str] = []
    files = Files([large], [], [], {large: ()}, (), "", steps.append)
    with pytest.raises(BuildError) as caught:
        compiled(cast(Any, _Slow()), tmp_path, program, files, verify=False)
    assert caught.value.where == "large.c"
    assert "did not finish" in caught.value.what
    assert "--native" in caught.value.hint
    assert set(steps) == {"compiling large.c", "compiling score-embed's runtime"}


@pytest.mark.parametrize("most", [10, 1000])
def test_a_large_file_is_compiled_without_what_takes_the_square_of_its_size(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(toolchain, "QUICK", most)
    monkeypatch.setattr(toolchain, "run_tool", lambda command, where: commands.append(command))
    source = tmp_path / "p.c"
    source.write_text("int x;" * 100)
    made = toolchain.Toolchain(find_board("native"))
    made.compile_instrumented(source, tmp_path / "p.o", (), verify=False)
    assert ("-fno-tree-pta" in commands[0]) == (most == 10)
    assert ("-DSC_QUIET" in commands[0]) == (most == 1000)
