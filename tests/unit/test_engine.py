"""The engine's extension: what it refuses, and when it is not the one expected."""

from __future__ import annotations

import gc
import importlib
import shutil
import subprocess
import sys
import weakref
from pathlib import Path

import pytest

from score_embed import engine
from score_embed.engine import _core
from score_embed.engine._core import Kind, binary, byte, const, extract, intern, select, table_size, zext
from score_embed.errors import UsageError


def test_the_stub_says_what_there_is() -> None:
    names = {name for name in vars(_core) if not name.startswith("__")}
    text = (Path(engine.__file__).parent / "_core.pyi").read_text(encoding="utf-8")
    for name in names:
        assert f"def {name}(" in text or f"class {name}" in text or f"\n{name}: " in text, name
    for kind in Kind:
        assert f"    {kind.name} = {kind.value}" in text


def test_an_object_a_formula() -> None:
    one = binary(Kind.ADD, zext(byte(1), 32), const(5, 32))
    assert one is binary(Kind.ADD, zext(byte(1), 32), const(5, 32))
    assert one.args[0] is zext(byte(1), 32)
    assert {one: 1}[binary(Kind.ADD, zext(byte(1), 32), const(5, 32))] == 1


def test_an_object_lives_as_long_as_its_formula() -> None:
    inner = zext(byte(2), 48)
    seen, name = weakref.ref(inner), inner.uid
    outer = binary(Kind.MUL, inner, inner)
    del inner
    assert seen() is outer.args[0]  # only the engine held it
    assert outer.args[0].uid == name
    before = table_size()
    del outer
    assert seen() is None
    assert table_size() < before


def test_what_dies_may_be_made_anew_meanwhile() -> None:
    made = []
    inner = zext(byte(3), 56)
    seen = weakref.ref(inner, lambda _: made.append(zext(byte(3), 56)))
    del inner
    assert len(made) == 1
    assert seen() is None
    assert made[0] is zext(byte(3), 56)


def test_deep_formulas_die_without_recursion() -> None:
    before = table_size()
    deep = zext(byte(0), 32)
    for turn in range(200_000):
        deep = binary(Kind.XOR, binary(Kind.ADD, deep, const(turn | 1, 32)), zext(byte(0), 32))
    chain = deep
    for _ in range(1000):  # some have objects of their own
        chain = next(arg for arg in chain.args if arg.kind in (Kind.ADD, Kind.XOR))
    del deep, chain
    gc.collect()
    assert table_size() <= before + 5


REFUSED = "formula|bits|operator|operands|widening|table|input|bytes|arguments|values"


@pytest.mark.parametrize(
    "damaged",
    [
        lambda: const(1, 0),
        lambda: const(1, 129),
        lambda: zext(byte(0), 200),
        lambda: zext(zext(byte(0), 16), 8),
        lambda: extract(byte(0), 4, 5),
        lambda: extract(byte(0), 1, 0),
        lambda: binary(Kind.ADD, byte(0), const(1, 16)),
        lambda: binary(Kind.CONCAT, byte(0), byte(1)),
        lambda: byte(1 << 40),
        lambda: intern(Kind.TABLE, 8, (byte(0),)),
        lambda: intern(Kind.ADD, 8, (byte(0),)),
        lambda: intern(Kind.EXTRACT, 4, (byte(0),), 6),
        lambda: _core.intern_table(8, byte(0), 1 << 100, (1, 2, 3)),
        lambda: _core.intern_table(4, extract(byte(0), 0, 1), 1 << 101, (1, 16)),
        lambda: _core.from_bytes([]),
        lambda: _core.table(binary(Kind.ADD, byte(0), byte(1))),
        lambda: _core.compute(byte(0)),
        lambda: _core.decode(0, 16),
        lambda: _core.smallest(0),
    ],
)
def test_what_cannot_be_is_refused(damaged: object) -> None:
    before = table_size()
    with pytest.raises(ValueError, match=REFUSED):
        damaged()  # type: ignore[operator]
    assert table_size() <= before


def test_what_a_callback_raises_comes_through() -> None:
    def cell(offset: int) -> None:
        raise LookupError(offset)

    with pytest.raises(LookupError):
        select(zext(extract(byte(0), 0, 2), 32), bytes(4), 1, cell)
    with pytest.raises(IndexError):
        _core.evaluate(byte(9), b"")


def test_an_engine_of_other_sources_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "SOURCES", "0" * 64)
    with pytest.raises(UsageError, match="other sources") as raised:
        importlib.reload(engine)
    assert "tools/build-engine" in raised.value.hint


def test_without_an_engine_one_sentence_says_so(tmp_path: Path) -> None:
    package = tmp_path / "score_embed"
    shutil.copytree(Path(engine.__file__).parents[1], package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    ran = subprocess.run(
        [sys.executable, "-m", "score_embed.cli.main", "run", str(Path(__file__).parents[2] / "examples" / "max3.c")],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 2, ran.stderr
    assert "error: the engine is not built for this Python" in ran.stderr
    assert "Traceback" not in ran.stderr
