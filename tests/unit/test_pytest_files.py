"""Files that declare campaigns for pytest, and what the plugin costs whoever does not use it."""

from __future__ import annotations

import ast
import importlib
import tomllib
from pathlib import Path

import pytest

from score_embed.errors import UsageError
from score_embed.pytest_plugin import files, plugin

ROOT = Path(__file__).parents[2]


def declared(folder: Path, text: str) -> tuple[files.Declared, ...]:
    path = folder / "test_p.score.yaml"
    path.write_text(text)
    return files.read(path)


def test_a_file_is_one_campaign(tmp_path: Path) -> None:
    text = "sources: [a.c, b.c]\nentry: f\nstub: [g, h]\nverify: true\nkeep: false\ncflags: [-DX=1]\n"
    (one,) = declared(tmp_path, text)
    words = ("--entry=f", "--stub=g", "--stub=h", "--verify", "a.c", "b.c", "--", "-DX=1")
    assert one == files.Declared("", words, ("native",), files.TIME, (), None, 1)


def test_groups_go_before_the_file(tmp_path: Path) -> None:
    text = """
sources: a.c
time: 5s
regress: ../nightly
campaigns:
  small: {time: 2s, board: [native, mps2-an385]}
  usual:
"""
    small, usual = declared(tmp_path, text)
    folder = (tmp_path / "../nightly",)
    assert small == files.Declared("small", ("a.c",), ("native", "mps2-an385"), "2s", folder, None, 6)
    assert usual == files.Declared("usual", ("a.c",), ("native",), "5s", folder, None, 7)


def test_the_project_file_beside_it_counts(tmp_path: Path) -> None:
    (tmp_path / "score-embed.yaml").write_text("sources: [a.c]\nboard: mps2-an385\ntime: 7s\n")
    (one,) = declared(tmp_path, "entry: f\nbaseline: known.txt\n")
    words = ("--entry=f", "--baseline=known.txt")
    assert one == files.Declared("", words, ("mps2-an385",), "7.0", (), tmp_path / "known.txt", 1)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("sources: a.c\nentri: f\n", 2, "unknown key 'entri'"),
        ("sources: a.c\nout: x\n", 2, "unknown key 'out'"),
        ("sources: a.c\nresume: x\n", 2, "unknown key 'resume'"),
        ("sources: a.c\nunconfined: true\n", 2, "unknown key 'unconfined'"),
        ("sources: a.c\ntime: soon\n", 2, "time cannot be 'soon'"),
        ("sources: a.c\nmax-tests: 0\n", 2, "max-tests cannot be '0'"),
        ("entry: f\n", 1, "there is no source file"),
        ("sources: a.c\ncampaigns: {}\n", 2, "there is no campaign"),
        ("sources: a.c\ncampaigns:\n  'a/b': {}\n", 3, "no campaign's name"),
        ("sources: a.c\ncampaigns:\n  a: {seed: x}\n", 3, "seed cannot be 'x'"),
        ("sources: a.c\ncampaigns:\n  a: 3\n", 3, "must be a group"),
    ],
)
def test_what_is_wrong_has_its_line(text: str, line: int, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        declared(tmp_path, text)
    assert said in error.value.what
    assert error.value.where.endswith(f"test_p.score.yaml:{line}")


def test_pytest_finds_the_plugin() -> None:
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    assert [importlib.import_module(name) for name in points.values()] == [plugin]


def test_the_plugin_imports_nothing_of_ours_before_it_has_a_file() -> None:
    tree = ast.parse(Path(plugin.__file__).read_text())
    names = {
        node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert names == {"__future__", "argparse", "pathlib", "typing", "pytest"}
