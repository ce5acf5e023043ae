"""What tests replace in the toolkit (`monkeypatch.setattr`) is there. So a module that is moved takes its patches
along: mypy sees neither names in strings nor the tests that are run only now and then."""

from __future__ import annotations

import ast
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parents[1]


def patches(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and full name of what is replaced, as far as it is the toolkit's and named in the file."""
    imported: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imported |= {name.asname or name.name: f"{node.module}.{name.name}" for name in node.names}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setattr"):
            continue
        owner, attribute = node.args[:2]
        if isinstance(owner, ast.Constant):
            name = str(owner.value)
        elif isinstance(attribute, ast.Constant):
            head, *rest = ast.unparse(owner).split(".")
            name = ".".join((imported.get(head, ""), *rest, str(attribute.value)))
        else:
            continue
        if name.startswith("score_embed."):
            yield node.lineno, name


def found(name: str) -> Any:
    """What has this name, behind modules, classes and their attributes."""
    package, *rest = name.split(".")
    at = pkgutil.resolve_name(package)
    for part in rest:
        package = f"{package}.{part}"
        at = getattr(at, part) if hasattr(at, part) else pkgutil.resolve_name(package)
    return at


@pytest.mark.parametrize("path", sorted(TESTS.glob("*/test_*.py")), ids=lambda path: path.stem)
def test_what_is_replaced_is_there(path: Path) -> None:
    missing = []
    for line, name in patches(ast.parse(path.read_text(encoding="utf-8"))):
        try:
            found(name)
        except (AttributeError, ImportError):
            missing.append(f"{path.name}:{line}: {name}")
    assert not missing


def test_the_rule_has_teeth() -> None:
    text = """
from score_embed.solve import query as questions
monkeypatch.setattr(questions, "_running", [])
monkeypatch.setattr(questions.Limit, "look", None)
monkeypatch.setattr("score_embed.solve.effort.interrupt", None)
monkeypatch.setattr(os, "replace", None)
"""
    (_, there), (_, method), (_, gone) = patches(ast.parse(text))
    assert (there, method) == ("score_embed.solve.query._running", "score_embed.solve.query.Limit.look")
    assert found(there) is not None
    assert callable(found(method))
    with pytest.raises(AttributeError):
        found(gone)
