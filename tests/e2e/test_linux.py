"""Programs under test as Linux processes: what one test leaves behind in the process is gone in the next."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from corpus import build, target_of
from runner import LINUX, explore, score_embed

from score_embed.board.profile import find_board
from score_embed.campaign import opening
from score_embed.contract.outcome import Finished, Run, Verdict
from score_embed.device.wired import WiredTarget
from score_embed.errors import TargetError
from score_embed.image.image import build_image
from score_embed.image.toolchain import CALLED, Toolchain

MISALIGNED = """
#include "score.h"
static unsigned char bytes[32] __attribute__((aligned(8)));
int main(void)
{
    unsigned char x;
    SYM_U8(x);
    if ((x & 0x81) == 0x81)
        *(volatile double *)(bytes + (x & 3)) = 1.5;
    return 0;
}
"""
PROGRAM = """
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "score.h"
static __thread int local = 5;
static volatile double one = 1, three = 3;
static volatile int zero;
static void handler(int number)
{
    _exit(number);
}
static void *map(size_t size)
{
    return mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
static void report(void)
{
    char *large = malloc(100 << 20);
    int file = open("/dev/null", O_RDONLY), i, dirty = 0;
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, 0, &blocked);
    for (i = 0; i < 100 << 20; i += 512)
        dirty |= large[i];
    for (i = 0; i < 100 << 20; i += 4096)
        large[i] = 1;
    printf("malloc %d %d", malloc(100 << 20) != 0, dirty);
    errno = 0;
    printf(" mmap %d", map(4096) != MAP_FAILED);
    printf(" file %d errno %d local %d", file, errno == ENOMEM, local);
    printf(" third %.17g blocked %d fork %d", one / three, sigismember(&blocked, SIGSEGV), fork() == -1);
    printf(" long %.3Lg", (long double)one / 8 + local);
}
static void deface(void)
{
    stack_t none = {.ss_flags = SS_DISABLE};
    sigset_t all;
    local = 7;
    errno = 99;
    fesetround(FE_DOWNWARD);
#if defined __x86_64__ || defined __i386__
    __asm__ volatile("fld1; fld1; fld1; fld1; fld1; fld1; fld1; fld1");
#endif
    sigaltstack(&none, 0);
    signal(SIGSEGV, handler);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, 0);
    dup(0);
}
static int deep(int n)
{
    volatile char frame[4096];
    frame[0] = (char)n;
    return n ? deep(n - 1) + frame[0] : 0;
}
int main(void)
{
    unsigned char x;
    SYM_U8(x);
    switch (x) {
    case 0: report(); break;
    case 1: deface(); break;
    case 2: *(volatile int *)(long)zero = 1; break;
    case 3: return deep(1000);
    case 4: raise(SIGSEGV); break;
    case 5: raise(SIGBUS); break;
    case 6: raise(SIGFPE); break;
    }
    return 0;
}
"""
VERDICTS = {
    2: Verdict.NULL_DEREFERENCE,
    3: Verdict.STACK_OVERFLOW,
    4: Verdict.INVALID_MEMORY_ACCESS,
    5: Verdict.INVALID_MEMORY_ACCESS,
    6: Verdict.DIVISION_BY_ZERO,
}


@pytest.mark.parametrize("board", ["native", *LINUX])
def test_nothing_is_left_of_the_test_before(board: str, tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text(PROGRAM)
    image = build(board, [source], cflags=("-lm",))
    with target_of(board, image) as target:

        def run(x: int) -> Finished:
            return target.run(Run(1, bytes([x]), max_branches=10_000_000))

        wanted = b"malloc 0 0 mmap 0 file 3 errno 1 local 5 third 0.33333333333333331 blocked 0 fork 1 long 5.12"
        assert run(0).output == wanted
        for x, verdict in VERDICTS.items():
            assert run(1).verdict is Verdict.RETURN
            again = run(0)
            assert (again.verdict, again.output) == (Verdict.RETURN, wanted), x
            assert run(1).verdict is Verdict.RETURN
            ended = run(x)
            assert ended.verdict is verdict, x
            assert x == 3 or ended.address == 0


# Parts of the image that are copied, on both sides of its longest run of zeros.
LARGE = """
#include <string.h>
#include "score.h"
static unsigned char first[3000] = {1}, before[64], zeros[100000], behind[64], last[3000] = {[2999] = 7};
__attribute__((constructor)) static void begin(void)
{
    before[0] = 3;
    behind[63] = 5;
}
static unsigned dirty(const unsigned char *at, unsigned size)
{
    unsigned k, sum = 0;
    for (k = 0; k < size; k++) sum += at[k];
    return sum;
}
int main(void)
{
    unsigned char x;
    unsigned found;
    SYM_UCHAR(x);
    found = dirty(first, sizeof first) - 1 + dirty(zeros, sizeof zeros) + dirty(last, sizeof last) - 7;
    found += dirty(before, sizeof before) - 3 + dirty(behind, sizeof behind) - 5;
    memset(first, x, sizeof first);
    memset(before, x, sizeof before);
    memset(zeros, x, sizeof zeros);
    memset(behind, x, sizeof behind);
    memset(last, x, sizeof last);
    return found != 0;
}
"""


@pytest.mark.parametrize("board", ["native", *LINUX])
def test_each_byte_of_static_memory_is_as_it_was(board: str, tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text(LARGE)
    image = build(board, [source])
    with target_of(board, image) as target:
        codes = [
            target.run(Run(number, bytes([x]), max_branches=10_000_000)).code for number, x in enumerate(b"\1\xff\2", 1)
        ]
    assert codes == [0, 0, 0]


def test_a_misaligned_double_faults_as_on_the_processor(tmp_path: Path) -> None:
    found = explore(tmp_path, {"p.c": MISALIGNED}, "--board", "arm-linux")
    assert [(bug["kind"], bug["line"]) for bug in found.summary["bugs"]] == [("invalid-memory-access", 9)]


def test_native_on_another_processor_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "here.yaml").write_text("extends: native\ncompiler: aarch64-linux-gnu-gcc\n")
    (tmp_path / "p.c").write_text("int main(void) { return 0; }\n")
    done = score_embed("run", "--board", "here.yaml", "p.c", cwd=tmp_path)
    assert done.returncode == 3
    assert "extends: aarch64-linux" in done.stderr


def test_an_emulator_that_does_not_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("extends: arm-linux\nemulator: [qemu-arm, -cpu, no-such-cpu]\n")
    (tmp_path / "p.c").write_text("int main(void) { return 0; }\n")
    done = score_embed("run", "--board", "mine.yaml", "p.c", cwd=tmp_path)
    assert done.returncode == 4
    assert "no READY: the target ended (exit status 1: qemu-arm: unable to find CPU model 'no-such-cpu')" in done.stderr


OWN_NAMES = """
#include <stddef.h>
#include "score.h"
static unsigned char table[300000] = {1, 2, 3};
static int calls;
void *memset(void *p, int c, size_t n) { unsigned char *q = p; while (n--) *q++ = (unsigned char)c; return p; }
void *memcpy(void *p, const void *f, size_t n)
{
    unsigned char *q = p;
    const unsigned char *g = f;
    while (n--) *q++ = *g++;
    return p;
}
int read(int fd, char *p) { (void)fd; calls++; *p = 3; return 1; }
int write(int fd, const char *p) { (void)fd; calls++; return *p; }
int signal = 4;
int main(void)
{
    char c, d = 0;
    SYM_CHAR(c);
    read(1, &d);
    table[5]++;
    if (c > 'x') return write(2, &d) + calls + signal;
    return table[0] + calls;
}
"""


@pytest.mark.parametrize("board", ["native", *LINUX])
def test_names_of_the_c_library_may_be_the_programs(board: str, tmp_path: Path) -> None:
    """The runtime goes on calling the library's: the program's memset is not run, and has no probe, between tests."""
    found = explore(tmp_path, {"own.c": OWN_NAMES}, "--board", board).summary
    assert (found["stopped"], found["paths"], found["bugs"]) == ("exhausted", 2, [])
    assert found["coverage"] == {
        "branches_total": 6,
        "branches_covered": 2,
    }  # of main; the loops of memset and memcpy never ran


OWN_SYSTEM = """
#include "score.h"
static int n;
void _exit(int code) { n = code; while (1) n++; }
void exit(int code) { _exit(code); }
void abort(void) { _exit(9); }
void *sbrk(long more) { return (char *)&n + more; }
void *malloc(__SIZE_TYPE__ size) { return (char *)&n + size; }
int mmap(int at) { return at; }
int raise(int number) { return number; }
int printf(const char *text, ...) { return *text; }
int main(void)
{
    char c;
    SYM_CHAR(c);
    if (c == 'a') _exit(3);
    if (c == 'b') abort();
    return mmap(c) + raise(2) + printf("a") + (malloc(2) == 0);
}
"""


@pytest.mark.parametrize("board", ["native", *LINUX])
def test_so_may_be_what_the_library_needs_itself(board: str, tmp_path: Path) -> None:
    found = explore(tmp_path, {"system.c": OWN_SYSTEM}, "--board", board, "--max-branches", "1000").summary
    assert (found["stopped"], found["paths"]) == ("exhausted", 3)
    assert [(bug["kind"], bug["function"]) for bug in found["bugs"]] == [
        ("hang", "_exit")
    ] * 2  # from main and from abort


def test_two_definitions_of_such_a_name(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(OWN_NAMES)
    (tmp_path / "b.c").write_text("int read(int fd)\n{\n    return fd;\n}\n")
    done = score_embed("run", "--board", "native", "a.c", "b.c", cwd=tmp_path)
    assert (done.returncode, "`read' is defined twice" in done.stderr, "sc_own" in done.stderr) == (3, True, False)


@pytest.mark.parametrize("board", ["native", "native32", "arm-linux"])
def test_all_that_the_runtime_calls_of_the_c_library_is_known(board: str, tmp_path: Path) -> None:
    tools = Toolchain(find_board(board))
    output = tmp_path / "part.o"
    nm = subprocess.run([tools.board.cc, "-print-prog-name=nm"], capture_output=True, text=True, check=True).stdout
    called: set[str] = set()
    for source in tools.runtime_sources(heap=True):
        command = [word for word in tools.runtime_command(source, verify=True) if not word.startswith("-flto")]
        subprocess.run([*command, "-o", output], check=True, timeout=60)
        listing = subprocess.run([nm.strip(), "-u", output], capture_output=True, text=True, check=True, timeout=60)
        called |= {line.split()[-1] for line in listing.stdout.splitlines()}
    reserved = {name for name in called if name.startswith(("_", "sc_"))} | {"_end"}
    answered = {"mmap", "mmap64", "mallopt", "exit"}  # wrapped; asked whether it is there; called when all is over
    assert called - reserved - answered <= CALLED["posix"]
    assert called >= {"memset", "read", "write"}


@pytest.mark.parametrize("board", ["native", "native32"])
def test_where_a_constructor_hangs(board: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "p.c").write_text(
        '#include "score.h"\nvolatile int flag;\nstatic void wait_for_it(void) { while (!flag) continue; }\n'
        "__attribute__((constructor)) static void before(void) { wait_for_it(); }\n"
        "int main(void) { int x; SYM_INT(x); return x > 3; }\n"
    )
    profile = find_board(board)
    monkeypatch.setattr(WiredTarget, "ready_within", 1.0)
    with pytest.raises(TargetError) as hangs, opening.ready_target(profile, build_image(profile, [tmp_path / "p.c"])):
        pass
    assert "start-up hangs in wait_for_it" in hangs.value.what
    assert hangs.value.where.endswith("p.c:3")  # the loop's jump may be its brace's: all is on one line
