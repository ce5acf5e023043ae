"""Calls that confinement refuses are noticed when they happen: through pointers, from code without probes, by their
numbers alone. They fail as before, are counted and located, and take `exhausted` back to `exhausted within`."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from runner import explore_files, score_embed

BY_POINTER = """#include "score.h"
#include <stdio.h>
#include <unistd.h>
int (*volatile child)(void) = fork;
FILE *(*volatile temporary)(void) = tmpfile;
int (*volatile gone)(const char *) = unlink;
int main(void)
{
    int x; SYM_INT(x);
    if (x == 77)
        return child() < 0 ? 3 : 4;
    if (x == 78)
        return temporary() == 0 ? 5 : 6;
    if (x == 79)
        return gone("nothing") < 0 ? 7 : 8;
    return 0;
}
"""
BY_NUMBER = """#include "score.h"
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
int main(void)
{
    int x; long done = SYS_socket; SYM_INT(x);
    sigset_t all; sigfillset(&all);
    if (x == 5) {
        sigprocmask(SIG_BLOCK, &all, 0);
        signal(SIGSYS, SIG_IGN);
        __asm__ volatile("syscall" : "+a"(done) : "D"(1L), "S"(1L), "d"(0L) : "rcx", "r11", "memory");
        return done == -EPERM ? 1 : 2;
    }
    return 0;
}
"""
OPAQUE = """#include <sys/socket.h>
int (*volatile made)(int, int, int) = socket;
int helper(int n) { return n == 4 ? made(AF_UNIX, SOCK_STREAM, 0) : n; }
"""
CALLER = """#include "score.h"
int helper(int);
int main(void) { int x; SYM_INT(x); if (x == 9) return helper(4) < 0 ? 1 : 2; return 0; }
"""
CONSTRUCTED = """#include "score.h"
#include <unistd.h>
int (*volatile gone)(const char *) = unlink;
static int result;
__attribute__((constructor)) static void early(void) { result = gone("nothing"); }
int main(void) { int x; SYM_INT(x); if (x == 1) return result < 0; return 9; }
"""
OFTEN = """#include "score.h"
#include <unistd.h>
int (*volatile gone)(const char *) = unlink;
int main(void) { int x; SYM_INT(x); if (x == 1) for (int i = 0; i < 3000; i++) gone("nothing"); return 0; }
"""
# What a library's function left on the stack is no way back from the call.
AFTER_A_COPY = """#include <fcntl.h>
#include <unistd.h>
int main(void)
{
    unsigned char in[5];
    unsigned n = 0;
    if (read(0, in, sizeof in) != sizeof in) return 1;
    if (in[3] == 77 && open("/etc/shadow", O_RDWR) >= 0) n = 4;
    return (int)n;
}
"""
HARMLESS = """#include "score.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
    int x; SYM_INT(x);
    char *p = malloc(40);
    printf("%d %ld\\n", x == 3, (long) sysconf(_SC_PAGESIZE));
    if (x == 3) { struct timespec t = {0, 1000}; nanosleep(&t, 0); write(1, "a", 1); }
    if (x == 4) exit(3);
    if (x == 5) abort();
    if (x == 6) *(volatile int *) 0 = 1;
    free(p);
    return x != 7 ? getpid() == 1 : 0;
}
"""
REFUSED = "what a confined target may do (refused: "


def told(found: dict[str, Any]) -> dict[str, tuple[str, int]]:
    return {row["call"]: (Path(row["file"]).name, row["line"]) for row in found["refused"]}


def codes(folder: Path) -> list[int]:
    with closing(sqlite3.connect(folder / "campaign.db")) as db:
        return sorted(code for (code,) in db.execute("SELECT code FROM tests"))


@pytest.mark.parametrize("clients", [(), ("--clients", "2")])
def test_through_pointers(clients: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(BY_POINTER)
    campaign = explore_files(tmp_path, [Path("p.c")], "--no-witness", *clients)
    found = campaign.summary
    assert found["stopped"] == "exhausted"
    places = told(found)
    assert places["clone"] == ("p.c", 11)
    assert places["unlink"] == ("p.c", 15)
    assert places["openat"] == ("p.c", 13)
    (said,) = [bound for bound in found["within"] if bound.startswith(REFUSED)]
    assert "clone at p.c:11" in said
    assert codes(campaign.folder) == [0, 3, 5, 7]
    report = score_embed("report", str(campaign.folder), cwd=tmp_path).stdout
    assert "exhausted within " in report
    assert REFUSED in " ".join(report.split())


@pytest.mark.parametrize(
    ("text", "call", "others"),
    [(BY_NUMBER, "socket", ()), (CALLER, "socket", ("helper.c",)), (CONSTRUCTED, "unlink", ())],
    ids=["by number, with signals blocked", "code without probes", "constructor"],
)
def test_by_whatever_way(text: str, call: str, others: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(text)
    (tmp_path / "helper.c").write_text(OPAQUE)
    native = [word for other in others for word in ("--native", other)]
    campaign = explore_files(tmp_path, [Path("p.c")], "--no-witness", *native)
    assert set(told(campaign.summary)) == {call}
    assert any(bound.startswith(REFUSED + call) for bound in campaign.summary["within"])
    assert 1 in codes(campaign.folder)


def test_the_place_is_the_user_s(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(AFTER_A_COPY)
    found = explore_files(tmp_path, [Path("p.c")], "--no-witness", "--stdin-bytes", "5").summary
    assert told(found) == {"openat": ("p.c", 8)}


def test_many_times(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(OFTEN)
    found = explore_files(tmp_path, [Path("p.c")], "--no-witness").summary
    assert sum(row["count"] for row in found["refused"]) >= 3000
    assert found["paths"] == 2


def test_a_program_that_is_refused_nothing(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(HARMLESS)
    found = explore_files(tmp_path, [Path("p.c")], "--no-witness").summary
    assert (found["refused"], found["within"]) == ([], ["what getpid(), sysconf() said"])


def test_unconfined_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(BY_POINTER)
    assert explore_files(tmp_path, [Path("p.c")], "--no-witness", "--unconfined").summary["refused"] == []


def test_in_32_bits(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(BY_POINTER)
    found = explore_files(tmp_path, [Path("p.c")], "--no-witness", "--board", "native32").summary
    assert {"clone", "unlink"} <= told(found).keys()


def test_it_is_remembered(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(BY_POINTER)
    first = explore_files(tmp_path, [Path("p.c")], "--no-witness", "--max-tests", "3")
    again = score_embed("run", "--json", "--resume", str(first.folder), cwd=tmp_path)
    assert again.returncode == 0
    found = json.loads(again.stdout)
    assert told(found).keys() == {"clone", "openat", "unlink"} > told(first.summary).keys()
