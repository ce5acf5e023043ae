"""Names and files that users give: what cannot be opened, written down or bounded is refused where it comes in."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from score_embed import config, userfile, yamlfile
from score_embed.board.profile import load_board
from score_embed.cli.main import main
from score_embed.errors import BuildError, UsageError
from score_embed.frontend.c import preprocess as preprocessor
from score_embed.frontend.c.parse import parse
from score_embed.frontend.c.preprocess import preprocess
from score_embed.frontend.types.constant import literal_pattern
from score_embed.frontend.types.ctype import parse_int
from score_embed.results.testcase import read_first

BOMB = "".join(
    f"{name}: &{name} [{', '.join([f'*{below}'] * 9)}]\n" for below, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize("name", ["a\0b", "\udcff", "x" * 256, "x/" * 2048, "é" * 128])
def test_names_that_no_file_can_have(name: str) -> None:
    with pytest.raises(ValueError, match=r"\."):
        userfile.name(name)
    assert userfile.name("x" * 255) == Path("x" * 255)


def test_only_files_are_read_and_not_without_an_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.json")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "big").write_bytes(bytes(config.MOST_INPUT + 1))
    for name in ("/dev/zero", "/dev/stdin", "fifo.json", "loop", "big", "nothing", ".", "x" * 300):
        with pytest.raises(UsageError, match=r"cannot read|too long|no .bin file"):
            read_first(tmp_path / name)
    (tmp_path / "deep.json").write_text('{"inputs": ' + "[" * 100_000)
    with pytest.raises(UsageError, match="nested too deeply"):
        read_first(tmp_path / "deep.json")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a: &a [*a]\n", "alias"),
        ("a: &a\n  b: *a\n", "alias"),
        (f"a: &a [x]\n{BOMB}", "alias"),
        ("a: " + "[" * 10_000, "within each other"),
        ("a: " + "{a: " * 10_000, "within each other"),
        ("- " * 10_000, "within each other"),
        ("a: 1\n" * 100_000, "too long"),
        ("a: " + "9" * 5000, "cannot be read as int"),
        ("a: 0x_\n", "cannot be read as int"),
        ("a: !!bool maybe\n", "cannot be read as bool"),
        ("a: !!python/object:os.system {}\n", "the tag"),
        ("a: !!timestamp\n", "the file must|the tag|^$"),
        ('a: "\\0"\n', "cannot be used"),
        ('a: "\\ud800"\n', "cannot be used"),
        ('a: "\\U00110000"\n', "no character"),
        ("? [a]\n: b\n", "one word"),
        ("a: \0\n", "no text has"),
    ],
)
def test_yaml(text: str, what: str, tmp_path: Path) -> None:
    file = tmp_path / "b.yaml"
    file.write_text(text)
    began = time.monotonic()
    if what.endswith("^$"):
        assert yamlfile.read(file).values == {"a": ""}
        return
    with pytest.raises(UsageError, match=what) as caught:
        yamlfile.read(file)
    assert caught.value.hint
    assert str(file) in caught.value.where
    assert time.monotonic() - began < 20


def test_a_date_is_a_word(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text("about: 2020-99-99\nclock: '010'\nbig: 99999999999999999999K\n")
    doc = yamlfile.read(tmp_path / "b.yaml")
    assert doc.text("about") == "2020-99-99"
    assert doc.number("clock") == 10
    with pytest.raises(UsageError, match="too large"):
        doc.number("big")


@pytest.mark.parametrize("key", ["extends", "linker-script", "objects"])
def test_names_within_a_profile(key: str, tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(f"{'' if key == 'extends' else 'extends: mps2-an385'}\n{key}: {'x' * 5000}\n")
    with pytest.raises(UsageError, match="no file's name"):
        load_board(tmp_path / "b.yaml")


@pytest.mark.parametrize(
    "words",
    [
        ["run", "x" * 5000 + ".c"],
        ["server", "x" * 5000],
        ["report", "\udcff"],
        ["run", "p.c", "--", "\udcff"],
        ["x" * 70_000],
    ],
)
def test_words_of_the_command_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    said = capsys.readouterr().err
    assert said.count("error:") == 1
    assert len(said) < 500


def test_the_words_of_a_variable() -> None:
    with pytest.raises(UsageError, match="told apart"):
        config.resolve({}, {"SCORE_EMBED_SOURCES": "'p.c"})


def test_what_a_few_lines_make_of_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "p.c"
    bomb = "".join(f"#define A{i} {f'A{i - 1} ' * 10}\n" for i in range(1, 12))
    source.write_text(f"#define A0 x x x x\n{bomb}int y = A11;\n")
    monkeypatch.setattr(preprocessor, "_MOST", 1 << 20)
    monkeypatch.setattr(preprocessor, "_MOST_PUT_OUT", 1 << 20)
    with pytest.raises(BuildError, match="more than 1 MiB"):
        preprocess("gcc", (), source)
    os.mkfifo(tmp_path / "fifo.h")
    source.write_text('#include "fifo.h"\n')
    monkeypatch.setattr(preprocessor, "_DEADLINE", 1)
    with pytest.raises(BuildError, match="did not finish within 1 s"):
        preprocess("gcc", (), source)


def test_constants_that_are_not_computed() -> None:
    infinity = 0x7FF0 << 48
    assert [literal_pattern(text, 64) for text in ("1e999999999", "0x1p99999999999", "1e-999999999")] == [
        infinity,
        infinity,
        0,
    ]
    assert literal_pattern("9" * 5000, 64) is None
    assert parse_int("9" * 5000) == (10**5000 - 1) % 2**128
    assert parse_int("18446744073709551615") == 2**64 - 1


@pytest.mark.parametrize("words", ["(0)", "(0 (1))", "()", "((1) 2)"])
def test_attributes_that_are_none(words: str) -> None:
    with pytest.raises(BuildError, match=r"'\(\(' expected"):
        parse(f"int f(int x) __attribute__{words};", "p.c")


def test_deep_trees_are_refused() -> None:
    parse("int f(int x) { return " + "!" * 2000 + "x; }", "deep.c")
    with pytest.raises(BuildError, match="nested too deeply"):
        parse("int f(int x) { return " + "!" * 9000 + "x; }", "deep.c")
