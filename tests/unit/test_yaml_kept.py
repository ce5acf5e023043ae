"""What a YAML file says is parsed once."""

from __future__ import annotations

from pathlib import Path

import pytest

from score_embed import yamlfile, yamltext
from score_embed.errors import UsageError
from score_embed.yamlfile import Section

TEXT = """\
name: a
sizes: [1, 0x20, 1.5, .inf, 99999999999999999999]
group:
  inner: {yes: true, none: null, empty: ''}
  list:
    - é
    - 'b'
"""


@pytest.fixture
def parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Texts that were parsed, from an empty cache on."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    seen: list[str] = []
    parse = yamltext.section

    def noted(text: str, path: Path) -> Section:
        seen.append(text)
        return parse(text, path)

    monkeypatch.setattr(yamltext, "section", noted)
    return seen


def test_what_is_kept_is_what_was_parsed(tmp_path: Path, parsed: list[str]) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(TEXT)
    first, again = yamlfile.read(file), yamlfile.read(file)
    assert parsed == [TEXT]
    assert again == first
    assert [type(value) for _, value, _ in again.leaves()] == [type(value) for _, value, _ in first.leaves()]


def test_another_text_or_place_is_parsed(tmp_path: Path, parsed: list[str]) -> None:
    file, other = tmp_path / "a.yaml", tmp_path / "b.yaml"
    file.write_text("a: 1\n")
    other.write_text("a: 1\n")
    assert yamlfile.read(file).where("a") == f"{file}:1"
    assert yamlfile.read(other).where("a") == f"{other}:1"
    file.write_text("\na: 1\n")
    assert yamlfile.read(file).where("a") == f"{file}:2"
    assert len(parsed) == 3


def test_what_is_wrong_is_said_again(tmp_path: Path, parsed: list[str]) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("a: [1\n")
    for _ in range(2):
        with pytest.raises(UsageError, match="not valid YAML"):
            yamlfile.read(file)
    assert len(parsed) == 2


def test_without_a_cache_it_is_read_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = tmp_path / "file"
    nowhere.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(nowhere))
    file = tmp_path / "a.yaml"
    file.write_text("a: 1\n")
    assert yamlfile.read(file).number("a") == 1
