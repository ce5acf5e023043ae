"""Options from the command line, the environment and the project file, and complaints about wrong ones."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pytest

from score_embed import config
from score_embed.errors import UsageError
from score_embed.results import parts


def parse(*words: str) -> dict[str, Any]:
    parser = argparse.ArgumentParser()
    config.add_options(parser)
    return vars(parser.parse_args(words))


def test_defaults(tmp_path: Path) -> None:
    assert config.resolve(parse(), {}, tmp_path) == config.Settings()


def test_command_line_beats_environment_beats_project(tmp_path: Path) -> None:
    (tmp_path / "score-embed.yaml").write_text("board: a\nseed: 1\nmax-tests: 7\nverify: yes\n", encoding="utf-8")
    environ = {"SCORE_EMBED_SEED": "2", "SCORE_EMBED_BOARD": "b", "SCORE_EMBED_DEBUG": "1", "HOME": "/"}
    settings = config.resolve(parse("--board", "c"), environ, tmp_path)
    assert (settings.board, settings.seed, settings.max_tests, settings.verify) == ("c", 2, 7, True)


def test_lists(tmp_path: Path) -> None:
    text = "sources: [a.c, b.c]\nnative: lib.c\ncflags: -DX=1\n"
    (tmp_path / "score-embed.yaml").write_text(text, encoding="utf-8")
    environ = {"SCORE_EMBED_CFLAGS": "-I 'my dir' -DY"}
    settings = config.resolve(parse("--instrument", "*.h", "--instrument", "*.inc"), environ, tmp_path)
    assert settings.sources == (Path("a.c"), Path("b.c"))
    assert settings.native == (Path("lib.c"),)
    assert settings.cflags == ("-I", "my dir", "-DY")
    assert settings.instrument == ("*.h", "*.inc")


@pytest.mark.parametrize(("word", "value"), [("90", 90.0), ("60s", 60.0), ("1.5m", 90.0), ("2h", 7200.0), ("0.5", 0.5)])
def test_seconds(word: str, value: float) -> None:
    assert config.seconds(word) == value


@pytest.mark.parametrize(
    "words",
    [
        ("--time", "soon"),
        ("--time", "-1"),
        ("--time", "nan"),
        ("--max-tests", "0"),
        ("--max-tests", "1e3"),
        ("--seed", "-1"),
        ("--strategy", "deepest"),
        ("--max-depth", "0"),
        ("--loop-bound", "many"),
    ],
)
def test_bad_values(words: tuple[str, str], tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        config.resolve(parse(*words), {}, tmp_path)
    assert words[1] in caught.value.what
    assert caught.value.hint


def test_unknown_project_key_names_line_and_suggestion(tmp_path: Path) -> None:
    (tmp_path / "score-embed.yaml").write_text("board: native\nmax-test: 3\n", encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        config.resolve(parse(), {}, tmp_path)
    assert caught.value.where.endswith("score-embed.yaml:2")
    assert "'max-tests'" in caught.value.hint


def test_unknown_environment_variable(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="SCORE_EMBED_BORD") as caught:
        config.resolve(parse(), {"SCORE_EMBED_BORD": "x"}, tmp_path)
    assert "SCORE_EMBED_BOARD" in caught.value.hint


def test_settings_survive_the_record(tmp_path: Path) -> None:
    words = ("--native", "l.c", "--time", "3m", "--keep", "--first", "t.json", "--strategy", "bfs", "--loop-bound", "3")
    settings = config.resolve(parse(*words), {}, tmp_path)
    again = parts.decode(parts.encode(settings), config.Settings)
    assert (again.strategy, again.loop_bound, again.max_depth) == ("bfs", 3, None)
    assert again.time == 180
    assert again.keep is True
    assert again.native == (Path("l.c").absolute(),)
    assert again.first == Path("t.json").absolute()
