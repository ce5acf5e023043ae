"""Block sites against an image whose definitions all have probes of their own.

Site numbers differ, and so do hashes and events. What must be equal is what a run does, how many symbolic conditions
and branches it meets, which runs share a path, and how many paths an exhausted campaign has.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import corpus
import pytest
from generator import program
from proof import FULL

from score_embed import config
from score_embed.campaign import campaign
from score_embed.contract.outcome import Run, Verdict
from score_embed.frontend.emit import probes
from score_embed.frontend.probes.blocks import Plan

INPUTS = 400
NO_CHECKS = frozenset[str]()  # how often the same is checked depends on what is compared here
FAULTS = r"""
#include <assert.h>
#include <stdio.h>
#include "score.h"

static int table[4] = {1, 2, 3, 4}, seen;

static int divided(unsigned char x)
{
    int d = x & 3, q, twice;
    seen = 1;
    q = 12 / d; /* faults before the branch and before the store */
    twice = q + q;
    seen = 2;
    q = 0;
    if (twice > 10)
        return twice;
    return q;
}

static int pointed(unsigned char x)
{
    int *p = x & 4 ? 0 : table, v, w;
    p = x & 8 ? p : table + 1;
    v = *p; /* faults before the assertion */
    w = v;
    v = 5;
    assert(w != 3 - (x >> 6));
    return w + v;
}

int main(void)
{
    unsigned char x;
    int r = 0;
    SYM_U8(x);
    if (x & 16)
        r = divided(x);
    if (x & 32)
        r += pointed(x);
    printf("%d %d\n", r, seen);
    return 0;
}
"""
Facts = tuple[Verdict, int, int, int, bytes]


def facts(source: tuple[Path, ...], size: int) -> tuple[list[Facts], list[int]]:
    """What each run does, and its path."""
    choose = random.Random(2)
    inputs = [bytes([i]) for i in range(256)] if size == 1 else [choose.randbytes(size) for _ in range(INPUTS)]
    with corpus.target_of("native", corpus.build("native", source, checks=NO_CHECKS)) as target:
        runs = [target.run(Run(number, data)) for number, data in enumerate(inputs, 1)]
    return (
        [(run.verdict, run.code, run.conditions, run.branches, run.output) for run in runs],
        [run.path_hash for run in runs],
    )


def explored(source: tuple[Path, ...], folder: Path, **options: Any) -> tuple[str, int, int, int]:
    """How a campaign ends: why, paths, divergences, bugs."""
    settings = config.Settings(sources=source, out=folder, cflags=("-lm",), **options)
    found = campaign.run(settings).summary
    return found.stopped, found.paths, found.divergences, len(found.bugs)


def without_block_sites(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "plan", lambda body, types, maybe: Plan())


def compare(source: tuple[Path, ...], size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    merged, paths = facts(source, size)
    without_block_sites(monkeypatch)
    single, others = facts(source, size)
    assert merged == single
    assert len(set(zip(paths, others, strict=True))) == len(set(paths)) == len(set(others))


@pytest.mark.parametrize("found", corpus.programs(), ids=lambda found: found.name)
def test_programs(found: corpus.TestProgram, monkeypatch: pytest.MonkeyPatch) -> None:
    compare(found.sources, found.size, monkeypatch)


@pytest.mark.parts(50)
@pytest.mark.parametrize("seed", range(100, 200))
def test_generated_programs(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "generated.c"
    source.write_text(program(seed, 10))
    compare((source,), 3, monkeypatch)


def test_definitions_fault_where_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "faults.c"
    source.write_text(FAULTS)
    found, _ = facts((source,), 1)
    expected = {x: Verdict.DIVISION_BY_ZERO for x in range(256) if x & 19 == 16}
    expected |= {x: Verdict.NULL_DEREFERENCE for x in range(256) if x & 44 == 44 and x not in expected}
    for x in range(256):
        if x & 32 and (1 if x & 8 else 2) == 3 - (x >> 6):
            expected.setdefault(x, Verdict.ASSERTION)
    assert [verdict for verdict, *_ in found] == [expected.get(x, Verdict.RETURN) for x in range(256)]
    compare((source,), 1, monkeypatch)


ADDRESSES = r"""
#include "score.h"
struct item { volatile unsigned char kind, size; volatile unsigned short next; }; /* of volatile objects addresses are pinned */
static struct item items[4] = {{1, 2, 3}, {2, 3, 1}, {3, 4, 2}, {9, 9, 0}};
static volatile unsigned char text[8] = "abcabc";
static unsigned at;

static int walk(struct item *from, unsigned n)
{
    struct item *i = from + n % 4; /* pinned once for all three members */
    if (i->kind == 2)
        return i->size;
    i->size++;
    if (i->size > 4)
        i = from + i->next;
    return i->kind + i->size; /* again where i is another */
}

int main(void)
{
    unsigned char a, b;
    int r = 0;
    SYM_U8(a);
    SYM_U8(b);
    at = a & 3;
    if (text[at] == 'b' || text[at] == 'c') /* the same address, nothing stored */
        r = 1;
    at = (at + b) & 3;
    if (text[at] == 'c')
        r += text[at + 1];
    return r + walk(items, b);
}
"""


def test_addresses_that_are_pinned_already(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "addresses.c"
    source.write_text(ADDRESSES)
    compare((source,), 2, monkeypatch)
    single = explored((source,), tmp_path / "single", verify=True)
    assert single[0] == "exhausted"
    monkeypatch.undo()
    assert explored((source,), tmp_path / "merged", verify=True) == single


CAMPAIGNS = corpus.programs() if FULL else [p for p in corpus.programs() if p.name.startswith("block_")]


@pytest.mark.parametrize("found", CAMPAIGNS, ids=lambda found: found.name)
@pytest.mark.parametrize("board", ["native", "mps2-an385"])
def test_exhausted_campaigns(
    board: str, found: corpus.TestProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    merged = explored(found.sources, tmp_path / "merged", board=board, verify=True)
    assert merged[0] == "exhausted"
    without_block_sites(monkeypatch)
    assert merged == explored(found.sources, tmp_path / "single", board=board, verify=True)
