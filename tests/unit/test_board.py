"""Board profiles: what is shipped, how boards are found, and what is said about wrong ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from score_embed.board import profile
from score_embed.errors import UsageError

GOOD = "compiler: gcc\nruntime: x86\nargument-order: right\nrun: {kind: native}\n"


def test_shipped_boards_load() -> None:
    names = {profile.load_board(path).name: path.stem for path in profile.known_boards().values()}
    assert {"native", "mps2-an385", "mps2-an385-uart"} <= set(names)
    assert all(name == stem for name, stem in names.items())


def test_a_board_of_the_project_comes_before_a_shipped_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "boards").mkdir()
    (tmp_path / "boards" / "native.yaml").write_text(GOOD)
    (tmp_path / "boards" / "mine.yaml").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    found = profile.known_boards()
    assert found["native"] == Path("boards/native.yaml")
    assert {"mine", "mps2-an385"} <= set(found)


def test_native() -> None:
    board = profile.find_board("native")
    assert (board.cc, board.runtime, board.argument_order) == ("gcc", "x86", "right")
    assert isinstance(board.run, profile.NativeRun)


def test_qemu() -> None:
    board = profile.find_board("mps2-an385")
    assert board.run == profile.QemuRun("qemu-system-arm", "mps2-an385", "semihosting")
    assert board.argument_order == "left"
    assert board.tools() == ("arm-none-eabi-gcc", "qemu-system-arm")


def test_project_boards_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "boards").mkdir()
    (tmp_path / "boards" / "native.yaml").write_text(GOOD + "cflags: -O0\n", encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(GOOD, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert profile.find_board("native").cflags == ("-O0",)
    assert profile.find_board("mine.yaml").name == "mine"
    assert profile.find_board("native.yaml").cflags == ("-O0",)


def test_unknown_board_suggests() -> None:
    with pytest.raises(UsageError, match="unknown board 'mps2-an358'") as caught:
        profile.find_board("mps2-an358")
    assert "'mps2-an385'" in caught.value.hint
    with pytest.raises(UsageError, match="no board file"):
        profile.find_board("nowhere.yaml")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (GOOD + "complier: gcc\n", 5, "unknown key 'complier'"),
        (GOOD.replace("right", "sideways"), 3, "argument-order"),
        (GOOD.replace("x86", "x68"), 2, "unknown runtime"),
        (GOOD.replace("native}", "quemu}"), 4, "unknown kind of run"),
        (GOOD.replace("native}", "qemu, command: q, machin: m}"), 4, "machin"),
        (GOOD.replace("{kind: native}", "native"), 4, "group of keys"),
        (GOOD + "compiler: cc\n", 5, "twice"),
        (GOOD + "cflags: {a: b}\n", 5, "list of words"),
        (GOOD.replace("compiler: gcc\n", ""), 1, "'compiler' is missing"),
        ("compiler: [\n", 2, "not valid YAML"),
        ("- a\n", 1, "key: value"),
    ],
)
def test_wrong_profiles_are_named_with_their_line(text: str, line: int, words: str, tmp_path: Path) -> None:
    path = tmp_path / "b.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        profile.load_board(path)
    assert words in caught.value.what
    assert caught.value.where == f"{path}:{line}"
    assert caught.value.hint


def test_missing_tool_says_how_to_get_it(tmp_path: Path) -> None:
    path = tmp_path / "b.yaml"
    path.write_text(GOOD.replace("gcc", "no-such-gcc") + "packages: {no-such-gcc: gcc-none}\n", encoding="utf-8")
    with pytest.raises(UsageError, match="'no-such-gcc'") as caught:
        profile.load_board(path).require_tools()
    assert caught.value.hint == "Install it: apt-get install gcc-none"
