"""What the record says of each test is that test's own, though rows are put together that have most in common."""

from __future__ import annotations

from pathlib import Path

import pytest

from score_embed import config
from score_embed.campaign import campaign
from score_embed.results.store import Store
from score_embed.results.test_rows import TestRow

# Ends, outputs and inputs differ from test to test.
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include "score.h"
int main(void)
{
    unsigned char in[3], more[2];
    int code = 0, i;
    SYM_BYTES(in, sizeof in);
    for (i = 0; i < 3; i++) {
        code *= 2;
        if (in[i] > 100) code++;
    }
    if (in[0] == 7) {
        SYM_BYTES(more, sizeof more);
        if (more[1] == 200) code += 10;
    }
    printf("code %d\\n", code);
    if (in[1] == 9) exit(code);
    return code;
}
"""


def check(row: TestRow) -> None:
    code = sum((byte > 100) << (2 - i) for i, byte in enumerate(row.input[:3]))
    has_more = row.input[0] == 7
    if has_more:
        code += 10 * (row.input[4] == 200)
    assert row.code == code
    assert row.output == f"code {code}"
    assert row.verdict == ("exit" if row.input[1] == 9 else "return")
    assert [(part.offset, part.size) for part in row.objects] == [(0, 3), (3, 2)][: 1 + has_more]
    assert len(row.input) == (5 if has_more else 3)


@pytest.mark.parametrize("strategy", ["dfs", "mixed", "bfs"])
@pytest.mark.parametrize("clients", [1, 2])
def test_a_row_is_its_own(clients: int, strategy: str, tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text(PROGRAM)
    settings = config.Settings(
        sources=(source,), out=tmp_path / "o", no_witness=True, strategy=strategy, clients=clients
    )
    found = campaign.run(settings)
    assert found.summary.stopped == "exhausted"
    with Store.read(found.folder) as record:
        rows = list(record.tests())
    new = [row for row in rows if row.outcome == "new"]
    for row in new:
        check(row)
    assert len({row.path_hash for row in new}) == len(new) == found.summary.paths > 12
    assert len({row.code for row in new}) > 8
