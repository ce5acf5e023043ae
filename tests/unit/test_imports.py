"""The import rule of ARCHITECTURE.md, checked on the syntax tree of every module."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "toolkit" / "score_embed"
EVERYWHERE = {"errors", "config", "yamlfile", ""}  # "": the package itself, for __version__

# package → what it may import besides itself and EVERYWHERE
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "config": set(),
    "yamlfile": set(),
    "board": set(),
    "frontend": {"board"},
    "build": {"board", "frontend"},
    "link": {"target.base"},
    "target": {"board", "link"},
    "simulate": {"board", "build", "link", "target"},
    "solve": set(),
    "trace": {"solve", "frontend.sites"},
    "explore": {"solve", "trace", "target.base", "frontend.sites"},
    "results": {"explore", "frontend.sites", "target.base"},
    "report": {"results"},
    "witness": {"board", "build", "frontend", "results"},  # it builds the program and books what it finds
    "fleet": {"explore", "results"},
    "carrier": {"fleet"},
}
ONLY_IN = {
    "z3": ("solve/smt.py", "solve/terms.py"),
    "pycparser": ("frontend/",),
    "serial": ("link/transport.py", "target/"),
    "msgspec": ("fleet/",),
    "zmq": ("carrier/",),
    "matplotlib": ("report/plots.py",),
    "scipy": ("report/experiment.py",),
    "ray": ("fleet/process/cluster.py", "fleet/process/actor.py"),
}
NO_IO = {"os", "socket", "subprocess", "pathlib", "sqlite3", "select", "threading", "asyncio", "tempfile"}
MODULES = sorted(PACKAGE.rglob("*.py"))


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


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports(path: Path) -> None:
    relative = path.relative_to(PACKAGE).as_posix()
    package = relative.split("/")[0].removesuffix(".py")
    for name, line in imports(path):
        where = f"{relative}:{line}: {name}"
        top = name.split(".")[0]
        if top in ONLY_IN:
            assert relative.startswith(ONLY_IN[top]), where
        if package in ("trace", "solve", "explore", "fleet"):
            assert top not in NO_IO, f"{where}: this package does no I/O"
        assert not name.startswith("score_embed.report") or package in ("report", "cli"), f"{where}: for cli only"
        if top != "score_embed" or package not in ALLOWED:  # campaign, drive, cli and __init__ may import everything
            continue
        inner = name.removeprefix("score_embed.") if name != "score_embed" else ""
        first = inner.split(".")[0]
        if first in EVERYWHERE or first == package or first.startswith("__"):
            continue
        assert any(inner == ok or inner.startswith(ok + ".") for ok in ALLOWED[package]), where


def test_the_rule_has_teeth(tmp_path: Path) -> None:
    module = tmp_path / "bad.py"
    module.write_text("from score_embed.cli import main\nimport z3.z3\n", encoding="utf-8")
    assert imports(module) == [("score_embed.cli.main", 1), ("z3.z3", 2)]
