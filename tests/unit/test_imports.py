"""The tables of ARCHITECTURE.md, checked on the syntax tree of every module of the toolkit."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "toolkit" / "score_embed"
EVERYBODY = {"errors", "command", "config", "places", "userfile", "yamlfile", "yamltext", "cache"}
NO_IO = {"os", "socket", "subprocess", "pathlib", "sqlite3", "select", "threading", "asyncio", "tempfile"}
WITHOUT_IO = {"trace", "solve", "explore", "fleet", "fleet/client", "fleet/server", "fleet/simulation"}
MODULES = [p for p in sorted(PACKAGE.rglob("*.py")) if p.parent != PACKAGE]


def table(heading: str) -> dict[str, tuple[str, ...]]:
    """The rows of a table of ARCHITECTURE.md: the word of the first column and those of the last."""
    rows = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").partition(heading)[2].partition("\n\n")[0]
    cells = [line.strip("| ").split("|") for line in rows.splitlines()[2:]]
    return {_words(row[0])[0]: _words(row[-1]) if len(row) > 1 else () for row in cells}


def _words(cell: str) -> tuple[str, ...]:
    return tuple(re.findall(r"`([^`]+)`", cell))


ROOMS = table("| room | what it does | imports |")
LIBRARIES = table("| library | only in |")


def imports(path: Path) -> list[tuple[str, int]]:
    """Absolute names of everything a module imports, `from a import b` as `a.b`."""
    found: list[tuple[str, int]] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            found += [(f"{node.module}.{alias.name}", node.lineno) for alias in node.names]
    return found


def room_of(name: str) -> str:
    """The room of an imported name of ours: `frontend/c` of score_embed.frontend.c.parse.parse."""
    parts = name.split(".")[1:]
    while parts and not any((PACKAGE.joinpath(*parts[:-1]) / f"{parts[-1]}{end}").is_file() for end in (".py", ".pyi")):
        parts.pop()
    return "/".join(parts[:-1]) or (parts[0] if parts else "")


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports(path: Path) -> None:
    relative = path.relative_to(PACKAGE).as_posix()
    room = relative.rpartition("/")[0]
    allowed = {*ROOMS[room], room, *EVERYBODY, ""}  # "": the package itself, for __version__
    for name, line in imports(path):
        where = f"{relative}:{line}: {name}"
        top = name.split(".")[0]
        if top in LIBRARIES:
            assert relative.startswith(LIBRARIES[top]), where
        if room in WITHOUT_IO:
            assert top not in NO_IO, f"{where}: this room does no I/O"
            assert name != "score_embed.command", f"{where}: this room does no I/O"
        if top == "score_embed":
            assert room_of(name) in allowed, where


def test_no_module_stands_outside_of_the_tables() -> None:
    """What is in no room is what everybody may import, and ARCHITECTURE.md names it."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = re.findall(r"`(\w+)\.py` \(", text.partition("Everybody may import")[2].partition("| room |")[0])
    assert set(named) == EVERYBODY == {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}


@pytest.mark.parametrize("name", sorted(EVERYBODY))
def test_what_everybody_imports_imports_no_room(name: str) -> None:
    used = {room_of(each) for each, _ in imports(PACKAGE / f"{name}.py") if each.startswith("score_embed.")}
    assert used <= EVERYBODY | {""}


def test_imports_flow_one_way() -> None:
    order = list(ROOMS)
    assert sorted(order) == sorted({path.parent.relative_to(PACKAGE).as_posix() for path in MODULES})
    for room, allowed in ROOMS.items():
        assert all(order.index(other) < order.index(room) for other in allowed), room


@pytest.mark.parametrize("room", ROOMS)
def test_each_permission_is_used(room: str) -> None:
    paths = [path for path in MODULES if path.parent == PACKAGE / room]
    used = {room_of(name) for path in paths for name, _ in imports(path) if name.startswith("score_embed.")}
    assert set(ROOMS[room]) <= used


@pytest.mark.parametrize("library", LIBRARIES)
def test_each_library_is_imported_where_it_is_said(library: str) -> None:
    for place in LIBRARIES[library]:
        paths = [path for path in MODULES if path.relative_to(PACKAGE).as_posix().startswith(place)]
        assert any(name.split(".")[0] == library for path in paths for name, _ in imports(path)), place


def test_the_rule_has_teeth(tmp_path: Path) -> None:
    module = tmp_path / "bad.py"
    module.write_text("from score_embed.cli.main import main\nimport z3.z3\n", encoding="utf-8")
    assert imports(module) == [("score_embed.cli.main.main", 1), ("z3.z3", 2)]
    assert room_of("score_embed.cli.main.main") == "cli"
