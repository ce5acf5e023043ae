"""What the front-end made is kept: found again when nothing changed, made anew when anything did that it depends on."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from score_embed.board.profile import Board, known_boards, load_board
from score_embed.cache import cache_folder, recall, remember
from score_embed.contract.program import Whole
from score_embed.frontend import program, whole
from score_embed.frontend.harness import entry as harness
from score_embed.image import identity
from score_embed.image.image import Image, build_image

C = """
#include "score.h"
#include "limit.h"
long strtol(const char *, char **, int);
int over(int speed) { return speed > LIMIT; }
int main(void)
{
    int speed;
    char text[3] = "";
    SYM_INT(speed);
    SYM_BYTES(text, 2);
    return over(speed) + (strtol(text, 0, 10) > 7);
}
"""
ERRNO = "#include_next <errno.h>\n#undef ERANGE\n#define ERANGE {}\n"


class Project:
    """A program with a header of its own, and another that only the models of the C library include."""

    def __init__(self, folder: Path) -> None:
        self.source, self.header, self.errno = (folder / name for name in ("p.c", "limit.h", "include/errno.h"))
        self.errno.parent.mkdir()
        self.source.write_text(C)
        self.header.write_text("#define LIMIT 50\n")
        self.errno.write_text(ERRNO.format(34))
        native = load_board(known_boards()["native"])
        self.board = replace(native, cflags=(*native.cflags, "-isystem", str(self.errno.parent)))

    def build(self, **options: Any) -> Image:
        return build_image(options.pop("board", self.board), [self.source], **options)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("score_embed.image.compiling.compiled", _empty)  # the front-end is what counts here
    monkeypatch.setattr("score_embed.image.image.load_image", lambda elf: elf)
    return Project(tmp_path)


def _empty(_toolchain: object, work: Path, *_: object, verify: bool) -> Path:
    built = work / "image.elf"
    built.touch()
    return built


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the front-end was asked for."""
    asked: list[str] = []
    for module, name in ((program, "instrument_program"), (harness, "harness_of"), (whole, "wrap_main")):
        monkeypatch.setattr(module, name, _counting(asked, name, getattr(module, name)))
    return asked


def _counting(asked: list[str], name: str, do: Callable[..., object]) -> Callable[..., object]:
    def counting(*positional: object, **named: object) -> object:
        asked.append(name)
        return do(*positional, **named)

    return counting


WHOLE = {"whole": Whole(argv=(3,))}


def _without_main(project: Project) -> None:
    project.source.write_text(C.partition("int main")[0])


def test_nothing_is_made_twice(project: Project, made: list[str]) -> None:
    first = project.build()
    assert project.build() == first
    assert made == ["instrument_program"]


def test_nor_is_a_harness(project: Project, made: list[str]) -> None:
    _without_main(project)
    first = project.build(entry="over")
    assert project.build(entry="over") == first
    assert made == ["harness_of", "instrument_program"]


def test_nor_what_a_whole_program_is_given(project: Project, made: list[str]) -> None:
    project.source.write_text(C.replace("main(void)", "main(int argc, char **argv)"))
    first = project.build(**WHOLE)
    assert project.build(**WHOLE) == first
    assert made == ["wrap_main", "instrument_program"]
    assert project.build(whole=Whole(argv=(4,))) != first
    assert made[2:] == ["wrap_main", "instrument_program"]


def _header(project: Project) -> dict[str, Any]:
    project.header.write_text("#define LIMIT 51\n")
    return {}


def _models_header(project: Project) -> dict[str, Any]:
    project.errno.write_text(ERRNO.format(35))
    return {}


def _profile(project: Project, **changes: Any) -> dict[str, Any]:
    return {"board": replace(project.board, **changes)}


def _compiler(project: Project, comment: str = "") -> Board:
    wrapper = project.source.parent / "gcc"
    wrapper.write_text(f'#!/bin/sh\n#{comment}\nexec gcc "$@"\n')
    wrapper.chmod(0o755)
    return replace(project.board, cc=str(wrapper))


CHANGES: dict[str, Callable[[Project], dict[str, Any]]] = {
    "a header": _header,
    "a header of the models": _models_header,
    "checks": lambda _: {"checks": frozenset({"null"})},
    "verify": lambda _: {"verify": True},
    "instrument": lambda _: {"instrument": ["*.h"]},
    "strict": lambda _: {"strict": True},
    "a flag": lambda _: {"cflags": ["-O2"]},
    "a type": lambda _: {"cflags": ["-funsigned-char"]},
    "the profile's flags": lambda p: _profile(p, cflags=(*p.board.cflags, "-O1")),
    "the profile's order of arguments": lambda p: _profile(p, argument_order="left"),
    "the compiler": lambda p: {"board": _compiler(p)},
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_it_depends_on_makes_it_anew(change: str, project: Project, made: list[str]) -> None:
    project.build()
    options = CHANGES[change](project)
    for _ in range(2):
        project.build(**options)
        assert made == ["instrument_program"] * 2


def test_a_new_version_of_the_compiler_makes_it_anew(project: Project, made: list[str]) -> None:
    project.build(board=_compiler(project))
    project.build(board=_compiler(project, " a new version"))
    assert len(made) == 2


@pytest.mark.parametrize("of", ["toolkit", "runtime"])
def test_another_toolkit_makes_all_anew(
    of: str, project: Project, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = project.build()
    monkeypatch.setattr(identity, of, lambda *_: "another")
    assert project.build() != first  # the image, too
    assert made == ["instrument_program"] * 2


@pytest.mark.parametrize("change", ["header", "entry"])
def test_a_harness_is_made_anew(change: str, project: Project, made: list[str]) -> None:
    _without_main(project)
    project.build(entry="over")
    if change == "header":
        _header(project)
        project.build(entry="over")
    else:
        project.source.write_text(project.source.read_text() + "int under(int speed) { return speed < LIMIT; }\n")
        project.build(entry="under")
    assert made == ["harness_of", "instrument_program"] * 2


def _cut(kept: Path) -> None:
    kept.write_bytes(kept.read_bytes()[:-1])


def _flip(kept: Path) -> None:
    content = bytearray(kept.read_bytes())
    content[len(content) // 2] ^= 1
    kept.write_bytes(content)


def _of_another(kept: Path) -> None:
    remember("another.probes", recall(kept.name) or b"")
    (kept.parent / "another.probes").replace(kept)


@pytest.mark.parametrize("damage", [_cut, _flip, _of_another, lambda kept: kept.write_bytes(b"")])
def test_what_is_damaged_is_not_believed(damage: Callable[[Path], None], project: Project, made: list[str]) -> None:
    first = project.build()
    (kept,) = cache_folder().glob("*.probes")
    damage(kept)
    assert project.build() == first
    assert project.build() == first
    assert len(made) == 2


def test_what_takes_long_to_import_is_not_imported_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    project = Project(tmp_path)
    _without_main(project)
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from score_embed.cli.main import main\n"
        f"assert main(['run', {str(project.source)!r}, '--entry', 'over', '--out', sys.argv[1]]) == 0\n"
        "own = ('score_embed.frontend.lower.unit', 'score_embed.frontend.program', 'score_embed.image.compiling')\n"
        "print([name for name in (*own, 'pycparser', 'elftools', 'rich', 'yaml', 'logging', 'statistics') if name in sys.modules])\n"
    )

    def imported(out: str) -> str:
        command = [sys.executable, "-c", code, str(tmp_path / out)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()[-1]

    assert "pycparser" in imported("first")
    assert imported("second") == "[]"
