"""Probes inline against the same program with all of them called (runtime/quiet.h): no run may show a difference.

Addresses differ, for code has another size: so events, and operands, which may be addresses, are not compared.
"""

from __future__ import annotations

import random
from pathlib import Path

import corpus
import pytest
from generator import program

from score_embed.contract.outcome import Run, Verdict
from score_embed.image import toolchain
from score_embed.image.toolchain import Toolchain

INPUTS = 100
PUT = """
#include <setjmp.h>
#include "score.h"
static jmp_buf back;
static char *volatile kept;
static char *moved;
static unsigned char x;
static unsigned part(unsigned mask) { unsigned i = 0; while (i < (x & mask)) i++; return i; } /* not symbolic */
static void put(char *p, int i) { p[i] = (char)i; }
static void large(void) { char a[32]; put(a, part(31)); kept = a; }
static void small(void) { char a[4]; put(a, part(7)); }
static void leave(void) { char a[32]; put(a, part(31)); longjmp(back, 1); }
static void wide(char *p) { *(int *)p = 1; }
static void nest(unsigned n) { char a[8]; if (n) nest(n - 1u); else kept = a; *kept = 1; }
static void deep(unsigned n) { char a[8]; put(a, n); if (n) deep(n - 1u); put(a, part(15)); }
"""
# An object that a site was in ends, and another one takes its place; the second one's end must be known.
LIFETIMES = {
    "activations": "large(); small();",
    "dangling": "large(); put(kept, 1); put(kept, 2); small();",
    "dangling in a recursion": "nest(2); small();",
    "scopes": "{ char a[32]; put(a, part(31)); } { char a[4]; put(a, part(7)); }",
    "longjmp": "if (!setjmp(back)) leave(); else small();",
    "recursion": "deep(part(3));",
    "lengths": "for (unsigned n = 8; n; n /= 2u) { char a[n]; put(a, part(3)); }",
    "neighbours": "static char a[8], b[8]; put(a, 1); put(b, 1); put(a, part(15)); put(b, part(15));",
    "bytes": "static char a[8]; wide(a); wide(a + part(7));",
    "one past": "static char a[8], b[8]; put(a + 8, -1); put(b, 0); put(a + 8, part(31) - 12);",
    "moved": "static char a[8], b[8]; moved = a; moved++; *moved = *b; moved += part(15); *moved = 1;",
    "passed": "static char a[8], b[8]; *a = 1; moved = b; moved += 4; put(moved, 1); put(moved - 4, part(3) - 2);",
    "moved on the stack": "large(); { char a[8]; moved = a; moved++; *moved = 1; moved += part(15); *moved = 1; }",
}
SEVERAL = [found for found in corpus.programs() if len(found.sources) > 1]
Facts = tuple[Verdict, int, int, int, int, int, tuple[int, ...], bytes]


def facts(board: str, source: tuple[Path, ...], size: int) -> list[Facts]:
    choose = random.Random(1)
    inputs = [choose.randbytes(size) for _ in range(INPUTS)]
    with corpus.target_of(board, corpus.build(board, source)) as target:
        runs = [target.run(Run(number, data, max_branches=20_000)) for number, data in enumerate(inputs, 1)]
    return [(r.verdict, r.code, r.path_hash, r.conditions, r.branches, r.unchecked, r.coverage, r.output) for r in runs]


def compare(board: str, source: tuple[Path, ...], size: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inline = facts(board, source, size)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))  # the build id says nothing of that
    monkeypatch.setattr(Toolchain, "_quiet", lambda tools, source: [])
    assert inline == facts(board, source, size)


@pytest.mark.parts(48)
@pytest.mark.parametrize("board", ["native", "native32", "mps2-an385"])
@pytest.mark.parametrize("found", corpus.programs(), ids=lambda found: found.name)
def test_programs(board: str, found: corpus.TestProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compare(board, found.sources, found.size, tmp_path, monkeypatch)


@pytest.mark.parts(12)
@pytest.mark.parametrize("board", ["native", "native32", "mps2-an385"])
@pytest.mark.parametrize("found", SEVERAL, ids=lambda found: found.name)
def test_some_files_are_too_large(
    board: str, found: corpus.TestProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then their probes are called, beside others that are inline."""
    inline = facts(board, found.sources, found.size)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    told, compiled = Toolchain._quiet, []

    def quiet(tools: Toolchain, source: Path) -> list[str]:
        compiled.append(source)
        monkeypatch.setattr(toolchain, "QUICK", 0 if len(compiled) % 2 else 1 << 30)
        return told(tools, source)

    monkeypatch.setattr(Toolchain, "_quiet", quiet)
    assert inline == facts(board, found.sources, found.size)
    assert len(compiled) > 1


@pytest.mark.parts(80)
@pytest.mark.parametrize("seed", range(80))
def test_generated_programs(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "p.c"
    source.write_text(program(seed, 10))
    compare("native" if seed % 2 else "mps2-an385", (source,), 3, tmp_path, monkeypatch)


@pytest.mark.parametrize("board", ["native", "native32", "mps2-an385"])
@pytest.mark.parametrize("name", LIFETIMES)
def test_what_bounds_know_of_an_object_ends_with_it(
    name: str, board: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "p.c"
    source.write_text(f"{PUT}int main(void)\n{{\n    SYM_U8(x);\n    {LIFETIMES[name]}\n    return 0;\n}}\n")
    compare(board, (source,), 1, tmp_path, monkeypatch)
    ends = {verdict for verdict, *_ in facts(board, (source,), 1)}
    assert ends == {Verdict.RETURN, Verdict.OUT_OF_BOUNDS}
