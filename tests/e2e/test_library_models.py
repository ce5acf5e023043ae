"""Functions of the C library that have models: followed, not concretized; and whose function is called."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from runner import BOARDS, explore

from score_embed.board.profile import find_board
from score_embed.image.library import Library
from score_embed.image.toolchain import Toolchain, run_tool
from score_embed.results.store import Store

COPIES = """
#include <string.h>
#include "score.h"
static char big[200000], other[200000];
int main(void)
{
    unsigned char x, size;
    SYM_U8(x);
    SYM_U8(size);
    SCORE_ASSUME(size < 4);
    memset(big, 'a', sizeof big); /* no branch a byte: no hang */
    memset(big + 5, x, 2);
    memcpy(other, big, sizeof big);
    memmove(other + 1, other + 4, size); /* one path for each size */
    if (other[2] == 'Q') return 1; /* sizes 2 and 3 only */
    return 0;
}
"""


@pytest.mark.parametrize("board", BOARDS)
def test_bytes_that_are_moved_stay_symbolic(board: str, tmp_path: Path) -> None:
    found = explore(tmp_path, {"p.c": COPIES}, "--board", board, "--verify")
    assert (found.summary["stopped"], found.summary["divergences"], found.incomplete) == ("exhausted", 0, [])
    assert found.summary["paths"] == 6  # four sizes, two of which have both ways
    # The program's own: two directions of the branch, and the one of the assumption that counts.
    assert found.summary["coverage"] == {"branches_total": 3, "branches_covered": 3}


LARGE = """
#include <stdlib.h>
#include <string.h>
#include "score.h"
static char from[1 << 20];
int main(void)
{
    unsigned size, copied;
    char *made;
    SYM_U32(size);
    SYM_U32(copied);
    SCORE_ASSUME(size >= 1u << 20 && size < 1u << 26 && copied > 100000 && copied < sizeof from);
    made = malloc(size);
    if (!made) return 1;
    memset(made, 7, size); /* it ends: that so many bytes are set is no hang */
    memcpy(made, from, copied);
    return made[size - 1];
}
"""


def test_a_large_size_is_used_as_it_is(tmp_path: Path) -> None:
    found = explore(tmp_path, {"p.c": LARGE}, "--verify", "--max-tests", "3")
    assert (found.summary["bugs"], found.summary["divergences"], found.summary["mispredicted"]) == ([], 0, 0)
    where = {Path(item["file"]).name for item in found.summary["incomplete"] if item["what"] == "large size"}
    assert where == {"memmove.c", "memset.c"}


PLACED = """
#include <string.h>
#include "score.h"
int main(void)
{
    unsigned char in[8], out[6] = {0}, own[6] = {1, 2, 3, 4, 5, 6};
    unsigned n, m;
    SYM_BYTES(in, 8);
    n = in[0];
    m = in[1];
    if (n > 4 || m > 3) return 1;
    memcpy(out + m, in + n, 2);
    if (out[2] == 'a') return out[3] == 'b' ? 2 : 3;
    memmove(own + m, own + 1, 3); /* they overlap */
    if (own[3] == 3) return 4; /* m is 2 */
    memset(own + m, 0, 2);
    return own[1] == 0 ? 5 : 6;
}
"""


@pytest.mark.parametrize("board", BOARDS)
def test_what_is_moved_may_lie_anywhere(board: str, tmp_path: Path) -> None:
    found = explore(tmp_path, {"p.c": PLACED}, "--board", board, "--verify")
    assert (found.summary["stopped"], found.summary["divergences"], found.incomplete) == ("exhausted", 0, [])
    with closing(sqlite3.connect(found.folder / "campaign.db")) as db:
        assert {code for (code,) in db.execute("SELECT code FROM tests")} == {1, 2, 3, 4, 5, 6}


OWN = """
#include <string.h>
#include <stdlib.h>
#include "score.h"
static int isdigit(int c) { return c == 5; }
static int measure(const char *text) { return (int)strlen(text); }
int main(void)
{
    int x, abs = 3; /* names of the library's that mean something else here */
    struct { int div; } d = { 4 };
    SYM_INT(x);
    if (isdigit(x)) return d.div + abs;
    if (x == 77) return measure(0);
    if (__builtin_abs(x) == 1000) return 8;
    return 0;
}
"""


def test_a_programs_own_functions_come_first(tmp_path: Path) -> None:
    found = explore(tmp_path, {"p.c": OWN})
    assert (found.summary["stopped"], found.summary["paths"]) == ("exhausted", 4)
    (bug,) = found.summary["bugs"]
    assert (bug["kind"], bug["function"], bug["stack"]) == ("null-dereference", "measure", ["measure", "main"])
    assert (bug["file"], bug["line"]) == ("p.c", 6)  # where the program calls strlen


OTHERS = """
#include "score.h"
int atoi(const char *);
int main(void)
{
    char text[3];
    SYM_BYTES(text, 2);
    text[2] = 0;
    return atoi(text) == 42;
}
"""


def test_a_model_is_called_also_where_the_header_gives_the_function_another_name(tmp_path: Path) -> None:
    """As glibc does with sscanf, and from 2.38 on with strtol."""
    text = OTHERS.replace("int atoi(const char *);", 'int atoi(const char *) __asm__("__isoc99_atoi");')
    found = explore(tmp_path, {"p.c": text}).summary
    assert (found["stopped"], found["incomplete"]) == ("exhausted", [])
    assert found["paths"] > 4


SCANNED = """
#include <stdio.h>
#include "score.h"
int main(void)
{
    char text[3];
    int number = 0;
    float real = 0;
    if (sscanf("7 1.5", "%d %f", &number, &real) < 1 || number != 7) return 3; /* the library's */
    SYM_BYTES(text, 2);
    text[2] = 0;
    if (sscanf(text, "%x", &number) == 1 && number == 0x4b) return 1;
    return 0;
}
"""


@pytest.mark.parametrize("board", ["native", "arduino-mega2560"])
def test_a_format_that_no_model_knows_is_the_librarys(board: str, tmp_path: Path) -> None:
    """avr-libc has no vsscanf to leave it to."""
    found = explore(tmp_path, {"p.c": SCANNED}, "--board", board)
    assert (found.summary["stopped"], found.summary["divergences"]) == ("exhausted", 0)
    with closing(sqlite3.connect(found.folder / "campaign.db")) as record:
        assert {code for (code,) in record.execute("SELECT code FROM tests")} == {0, 1}


def test_a_function_of_other_code_is_not_replaced(tmp_path: Path) -> None:
    alone, both = tmp_path / "alone", tmp_path / "both"
    alone.mkdir()
    both.mkdir()
    assert explore(alone, {"p.c": OTHERS}).summary["stopped"] == "exhausted"
    sources = {"p.c": OTHERS, "q.c": "int atoi(const char *text) { return text[0] == 'x' ? 42 : 0; }\n"}
    found = explore(both, sources, native=("q.c",))
    assert found.summary["stopped"] == "drained"
    assert found.incomplete


NUMBERS = """
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "score.h"
int main(void)
{
    char text[24];
    memset(text, '9', sizeof text);
    SYM_BYTES(text, 1);
    text[23] = 0;
    errno = 0;
    if (strtol(text, 0, 10) < 0) return errno == ERANGE;
    if (isupper((unsigned char)text[0])) return tolower((unsigned char)text[0]) == 'q' ? 5 : 6;
    return errno == ERANGE ? 7 : 8;
}
"""


@pytest.mark.parametrize("flags", [(), ("-O2", "-D_FORTIFY_SOURCE=2"), ("-std=c89",)])
def test_headers_with_macros_and_inline_functions(flags: tuple[str, ...], tmp_path: Path) -> None:
    found = explore(tmp_path, {"p.c": NUMBERS}, "--verify", cflags=flags)
    assert (found.summary["stopped"], found.summary["divergences"]) == ("exhausted", 0)
    with closing(sqlite3.connect(found.folder / "campaign.db")) as record:
        codes = {code for (code,) in record.execute("SELECT code FROM tests")}
    assert codes == {1, 5, 6, 7, 8}


LEFT_OUT = """
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "score.h"
int main(void)
{
    char text[4], copy[8], *rest = copy, *end;
    SYM_BYTES(text, 3);
    text[3] = 0;
    bzero(copy, sizeof copy);
    end = mempcpy(copy, text, 2);
    stpcpy(end, "=x");
    if (*strchrnul(copy, '=') != '=' || bcmp(copy, text, 2)) return 1;
    if (strcmp(strsep(&rest, "="), "on") == 0) return 2;
    if (memrchr(text, '!', 3) == text + 1) return 3;
    return rest && *rest == 'x' ? 4 : 5;
}
"""


def test_what_gnu_and_bsd_have_beside_the_standard_is_followed(tmp_path: Path) -> None:
    """dash copies all its words with mempcpy: as opaque code it took every formula away."""
    found = explore(tmp_path, {"p.c": LEFT_OUT}, "--verify")
    assert (found.summary["stopped"], found.summary["divergences"], found.incomplete) == ("exhausted", 0, [])
    with Store.open(found.folder) as record:
        assert {test.code for test in record.tests()} == {1, 2, 3, 4, 5}


ATOI_AND_DIV = """
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include "score.h"
int main(void)
{
    char in[3], text[8];
    int n = 0;
    div_t d;
    SYM_BYTES(in, 2);
    in[2] = 0;
    d = div(atoi(in), 7);
    sprintf(text, "%d", tolower(in[0]));
    sscanf(text, "%d", &n);
    return n == 'q' ? 2 : d.rem == 3 && d.quot == 2;
}
"""


@pytest.mark.parametrize("flags", ["[-O2, -g]", "[-O0, -g]", "[-O2, -g, -D_FORTIFY_SOURCE=2]", "[-O2, -flto]"])
def test_models_that_headers_define_inline_too(flags: str, tmp_path: Path) -> None:
    """What a header defines for optimized code stands behind a model of it, if another model includes that header."""
    (tmp_path / "b.yaml").write_text(f"extends: native\ncflags: {flags}\n")
    found = explore(tmp_path, {"p.c": ATOI_AND_DIV}, "--board", "b.yaml")
    assert found.summary["stopped"] == "exhausted"
    with closing(sqlite3.connect(found.folder / "campaign.db")) as record:
        codes = {code for (code,) in record.execute("SELECT DISTINCT code FROM tests")}
    assert codes == {0, 1, 2}


@pytest.mark.parametrize("board", ["native", "native32", "mps2-an385", "riscv32-virt"])
def test_all_models_fit_into_one_unit(board: str, tmp_path: Path) -> None:
    toolchain = Toolchain(find_board(board))
    for number, cflags in enumerate(((), ("-O2",), ("-O2", "-D_FORTIFY_SOURCE=2"))):
        library = Library(toolchain, cflags, stdin=True)
        unit = tmp_path / f"models{number}.c"
        unit.write_text(library.load(sorted(library.texts())))
        run_tool([toolchain.board.cc, *toolchain.board.cflags, *cflags, "-w", "-fsyntax-only", str(unit)], "models")
