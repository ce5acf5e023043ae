"""Scanners as flex makes them: tables in tables, walked until an entry fits, and read by a character's class.

The judge is the plain program over all 65,536 inputs of two bytes. With eight bytes a path has some hundred conditions
on a network of small tables: they are decided by these, and Z3 is not asked. In `-CF` a state and a byte lead to nearly
a thousand values, of which the path's conditions leave some sixty.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from runner import explore_files
from table_programs import BruteForce

pytestmark = pytest.mark.skipif(not shutil.which("flex"), reason="there is no flex: tools/setup-tests.sh fetches it")

# With classes of characters that behave alike, or of tables whose entries do; with a row of 256 entries for each state;
# with states that are pointers, and distances from one to the next.
TABLES = ("-Cem", "-Ce", "-Cfe", "-Cf", "-CF")
SCANNER = r"""
%{
#include "score.h"
%}
%option noyywrap nodefault never-interactive nounput noinput 8bit
D [0-9]
L [a-zA-Z_]
%%
"/*" return 1;
"auto"|"break"|"case"|"char"|"const"|"continue"|"default"|"do"|"double" return 2;
"else"|"enum"|"if"|"int"|"long"|"return"|"while" return 3;
{L}({L}|{D})* return 4;
0[xX][a-fA-F0-9]+ return 5;
{D}+ return 6;
{D}+"."{D}*([eE][+-]?{D}+)? return 7;
\"(\\.|[^\\"\n])*\" return 8;
">>="|"<<="|"+="|"-="|"->"|"++"|"--" return 9;
[ \t\n]+ return 10;
.|\n return 11;
%%
int main(void)
{
    unsigned char text[SIZE];
    unsigned token, sum = 0;

    SYM_BYTES(text, SIZE);
    yy_scan_bytes((const char *) text, SIZE);
    while ((token = (unsigned) yylex()) > 0)
        sum = sum * 12 + token;
    return sum & 127;
}
"""


def scanner(tables: str, folder: Path) -> Path:
    (folder / "scanner.l").write_text(SCANNER)
    subprocess.run(["flex", tables, "-o", "scanner.c", "scanner.l"], cwd=folder, check=True, timeout=60)
    return folder / "scanner.c"


@pytest.mark.parts(3)
@pytest.mark.parametrize("tables", TABLES)
def test_every_path_of_two_bytes(tables: str, tmp_path: Path) -> None:
    source = scanner(tables, tmp_path)
    truth = BruteForce(source, 2, tmp_path, ("-DSIZE=2",))
    is_beyond = tables == "-CF"  # its programs read beyond their table (below)
    checks = ("--check", "none") if is_beyond else ()
    found = explore_files(tmp_path, [source], "--no-witness", *checks, cflags=("-DSIZE=2",))
    assert (found.summary["stopped"], found.summary["bugs"]) == ("exhausted", [])
    assert not truth.difference(found.folder)
    assert found.summary["runs"] == found.summary["paths"] + is_beyond  # what lies there is asked for once


@pytest.mark.parts(3)
@pytest.mark.parametrize("tables", TABLES)
def test_eight_bytes_need_no_smt(tables: str, tmp_path: Path) -> None:
    source = scanner(tables, tmp_path)
    found = explore_files(tmp_path, [source], "--no-witness", "--max-tests", "300", cflags=("-DSIZE=8",))
    assert (found.summary["runs"], found.summary["paths"], found.summary["divergences"]) == (300, 300, 0)
    assert found.summary["solver"]["by"]["smt"] == found.summary["solver"]["by"]["bitwuzla"] == 0
    assert found.summary["solver"]["by"]["finite"] > 200


@pytest.mark.parametrize("order", ["bfs", "random"])
def test_orders_that_come_from_anywhere_need_no_smt(order: str, tmp_path: Path) -> None:
    """Their questions have conditions in common with older ones, of which tables are known that do not hold for them."""
    source = scanner("-CF", tmp_path)
    asked = ("--no-witness", "--max-tests", "60", "--strategy", order)
    found = explore_files(tmp_path, [source], *asked, cflags=("-DSIZE=8",))
    assert (found.summary["runs"], found.summary["paths"]) == (60, 60)
    assert found.summary["solver"]["by"]["smt"] == found.summary["solver"]["by"]["bitwuzla"] == 0


def test_a_scanner_that_reads_beyond_its_table(tmp_path: Path) -> None:
    """flex 2.6.4 ends the table of `-CF` an entry too early for a last state that is left by the byte 255. gcc's
    sanitizer is the judge."""
    source = scanner("-CF", tmp_path)
    found = explore_files(tmp_path, [source], "--no-witness", cflags=("-DSIZE=2",))
    assert found.bug_kinds == ["out-of-bounds"]
    text = bytes.fromhex(found.summary["bugs"][0]["inputs"]["text"])
    (tmp_path / "plain").mkdir()
    fill = "; ".join(f"(p)[{index}] = {value}" for index, value in enumerate(text))
    (tmp_path / "plain" / "score.h").write_text(f"#define SYM_BYTES(p, n) do {{ {fill}; }} while (0)\n")
    words = ["gcc", "-w", "-DSIZE=2", "-g", "-fsanitize=address", "-Iplain", "-o", "judge", source.name]
    subprocess.run(words, cwd=tmp_path, check=True, timeout=60)
    done = subprocess.run(["./judge"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert "global-buffer-overflow" in done.stderr
    assert f"scanner.c:{found.summary['bugs'][0]['line']}" in done.stderr
