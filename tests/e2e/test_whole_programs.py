"""Whole programs as they are: symbolic arguments and standard input; what is found shows again without score-embed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from runner import BOARDS, explore, score_embed

READER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char *argv[])
{
    char line[4], rest[2];
    int c;
    if (argc != 3 || strcmp(argv[2], "-q") == 0)
        return 2;
    c = getchar();
    if (c == '+')
        ungetc('-', stdin);
    c = fgetc(stdin);
    if (c != '-')
        return 3;
    if (!fgets(line, sizeof line, stdin))
        return 4;
    if (strcmp(line, "x\n") == 0 && fread(rest, 1, 2, stdin) == 1 && feof(stdin) && getc(stdin) == EOF
        && rest[0] == argv[1][0])
        abort();
    printf("%s %d\n", __func__, (int) strlen(argv[1]));
    return 0;
}
"""


@pytest.mark.parametrize("board", BOARDS)
def test_arguments_and_standard_input_lead_to_a_bug(board: str, tmp_path: Path) -> None:
    found = explore(tmp_path, {"reader.c": READER}, "--board", board, "--argv", "1,2", "--stdin-bytes", "5", "--verify")
    assert found.summary["stopped"] == "exhausted"
    assert not found.incomplete
    assert found.bug_kinds == ["abort"]
    done = score_embed("export", "out", "--corpus", "corpus", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    subprocess.run(["gcc", "-w", "reader.c", "-o", "plain"], cwd=tmp_path, check=True, timeout=60)
    endings = set()
    for data in sorted((tmp_path / "corpus").glob("*.bin")):
        words = data.with_suffix(".args").read_bytes().split(b"\0")[:-1]
        given = data.read_bytes()
        plain = subprocess.run(
            ["./plain", *words], cwd=tmp_path, input=given, capture_output=True, timeout=60, check=False
        )
        endings.add((plain.returncode, plain.stdout))
    assert (-6, b"") in endings
    assert {code for code, _ in endings} == {-6, 0, 2, 3}
    assert (0, b"main 1\n") in endings


def test_standard_input_alone_is_the_input_of_a_test(tmp_path: Path) -> None:
    program = r"""
        #include <stdio.h>
        #include <stdlib.h>
        #include <unistd.h>
        int main(void)
        {
            char kept[3];
            if (read(0, kept, 2) == 2 && kept[0] == 'o' && kept[1] == 'k' && getchar() == EOF)
                abort();
            return 0;
        }
    """
    found = explore(tmp_path, {"p.c": program}, "--stdin-bytes", "2")
    assert found.bug_kinds == ["abort"]
    (data,) = (found.folder / "bugs").glob("*.bin")
    assert data.read_bytes() == b"ok"
    done = score_embed("export", "out", "--unity", "t.c", cwd=tmp_path)
    assert done.returncode == 2
    assert "--corpus FOLDER" in done.stderr


def test_sym_argv_gives_arguments(tmp_path: Path) -> None:
    program = r"""
        #include <stdlib.h>
        #include <string.h>
        #include "score.h"
        int main(int argc, char **argv)
        {
            SYM_ARGV(argc, argv, 2, 3);
            if (argc == 3 && argv[3] == 0 && strcmp(argv[2], "-a") == 0 && argv[1][0] == 0)
                abort();
            return 0;
        }
    """
    found = explore(tmp_path, {"p.c": program})
    assert (found.summary["stopped"], found.summary["within"]) == ("exhausted", [])
    assert found.bug_kinds == ["abort"]
    public = Path(__file__).resolve().parents[2] / "runtime" / "include"
    subprocess.run(["gcc", "-w", f"-I{public}", "p.c", "-o", "plain"], cwd=tmp_path, check=True, timeout=60)
    inputs = list((found.folder / "bugs").glob("*.bin"))
    assert len(inputs) == 2  # as it was found, and made small
    for data in inputs:
        done = subprocess.run(["./plain"], cwd=tmp_path, env={"SCORE_INPUT": str(data)}, timeout=60, check=False)
        assert done.returncode == -6


SCANNER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    int speed, n = 0;
    char unit[3], *line = NULL;
    size_t size = 0;
    if (scanf("%d%2[a-z]", &speed, unit) != 2)
        return 2;
    if (speed < 0 || strcmp(unit, "rp") != 0)
        return 3;
    if (fscanf(stdin, " %*c%n", &n) == EOF)
        return 4;
#ifdef __linux__
    if (getline(&line, &size, stdin) < 0)
        return 5;
#else /* newlib has none */
    line = malloc(8);
    if (!line || !fgets(line, 8, stdin))
        return 5;
#endif
    if (speed == 42 && n == 2 && line[0] == '!')
        abort();
    printf("%d %d\n", speed > 9, n);
    return 0;
}
"""


@pytest.mark.parametrize("board", BOARDS)
def test_scanf_and_getline_read_the_symbolic_input(board: str, tmp_path: Path) -> None:
    found = explore(
        tmp_path, {"s.c": SCANNER}, "--board", board, "--stdin-bytes", "7", "--verify", "--max-tests", "3000"
    )
    assert not [what for what in found.incomplete if "tests" not in what]
    assert found.bug_kinds == ["abort"]
    done = score_embed("export", "out", "--corpus", "corpus", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    subprocess.run(["gcc", "-w", "s.c", "-o", "plain"], cwd=tmp_path, check=True, timeout=60)
    endings = set()
    for data in sorted((tmp_path / "corpus").glob("*.bin")):
        plain = subprocess.run(
            ["./plain"], cwd=tmp_path, input=data.read_bytes(), capture_output=True, timeout=60, check=False
        )
        endings.add((plain.returncode, plain.stdout))
    assert endings >= {(-6, b""), (2, b""), (3, b""), (0, b"0 2\n"), (0, b"1 1\n")}


@pytest.mark.parametrize("format_", ['"%f"', '"%d %p"', "text"])
def test_a_format_that_the_model_does_not_know_is_named(format_: str, tmp_path: Path) -> None:
    program = f"""#include <stdio.h>
int main(void)
{{
    const char *text = "%Lf";
    long double x = 0;
    scanf({format_}, &x, &x);
    return getchar() == 3;
}}
"""
    found = explore(tmp_path, {"p.c": program}, "--stdin-bytes", "2")
    assert [(row["what"], row["line"]) for row in found.summary["incomplete"]] == [
        ("scanf with such a format does not read the symbolic input", 6)
    ]
    assert found.summary["stopped"] == "drained"


@pytest.mark.parametrize(
    ("options", "text", "says"),
    [
        (("--argv", "3"), "int main(void) { return 0; }", "main takes no arguments"),
        (("--stdin-bytes", "3"), "int f(void) { return 0; }", "no source defines main"),
        (("--argv", "3,x"), "int main(int n, char **v) { return 0; }", "argv cannot be '3,x'"),
        (("--stdin-bytes", "0"), "int main(void) { return 0; }", "stdin-bytes cannot be '0'"),
    ],
)
def test_what_cannot_be_given_is_refused(tmp_path: Path, options: tuple[str, ...], text: str, says: str) -> None:
    (tmp_path / "p.c").write_text(text)
    done = score_embed("run", *options, "p.c", cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
