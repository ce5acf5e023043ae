"""Proof (D): a test's trace is the same as first, as thousandth, and in a fresh instance."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import build, target_of
from runner import BOARDS, LINUX

from score_embed.contract.outcome import Finished, Run
from score_embed.explore.prf import grow

PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "score.h"
static int calls;
static char *kept;
static void remember(const char *s)
{
    char *copy = malloc(strlen(s) + 1);
    if (copy == 0)
        abort();
    strcpy(copy, s);
    kept = copy;
}
int main(void)
{
    unsigned char in[4];
    char text[16];
    int sum = 0;
    SYM_BYTES(in, sizeof in);
    if (kept != 0 || calls++ != 0)
        return 99;
    for (int i = 0; i < 4; i++) {
        if (in[i] > 100)
            sum += in[i];
        if (sum > 300)
            break;
    }
    sprintf(text, "%d", sum);
    remember(text);
    printf("%s %d %d\\n", kept, rand() % 10, calls);
    if (in[0] == 200)
        *(volatile int *)0 = 1;
    return 0;
}
"""


def essence(finished: Finished) -> tuple[object, ...]:
    return (finished.verdict, finished.path_hash, finished.events, finished.output, finished.operand_hash)


@pytest.mark.parametrize("board", [*BOARDS, *LINUX])
def test_a_trace_is_the_same_as_first_as_thousandth_and_in_a_fresh_instance(tmp_path: Path, board: str) -> None:
    source = tmp_path / "p.c"
    source.write_text(PROGRAM)
    image = build(board, [source])
    wanted = bytes([101, 250, 3, 9])
    with target_of(board, image) as target:
        first = essence(target.run(Run(1, wanted)))
        for number in range(2, 1000):
            # Inputs that crash are rare here, as in a campaign: each costs an emulated board a reset.
            target.run(Run(number, grow(number, b"", 4)))
        thousandth = essence(target.run(Run(1000, wanted)))
        target.restart()
        fresh = essence(target.run(Run(1001, wanted)))
    assert first == thousandth == fresh
    assert first[0].value == "return"  # type: ignore[attr-defined]
