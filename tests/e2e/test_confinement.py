"""Programs under test, firmware in QEMU and the second witness cannot touch the machine they run on: each thing they
may not do is tried, and works with --unconfined or without the layer that keeps them from it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from plain_wire import READY, encode
from runner import explore, score_embed

from score_embed.contract.wire import WIRE_VERSION, Type
from score_embed.results.store import Store

# Each does something to the machine and says 1 if it worked. None does harm where it works: who runs the tests is not
# killed by the proof that he could be.
ATTACKS = {
    "unlink": "unlink(VICTIM) == 0",
    "rename": "rename(VICTIM, beside(\"2\")) == 0",
    "write a file": "open(VICTIM, O_WRONLY) >= 0",
    "append to a file": "open(VICTIM, O_RDWR | O_APPEND) >= 0",
    "truncate": "truncate(VICTIM, 0) == 0",
    "cut off while opening": "open(VICTIM, O_RDONLY | O_TRUNC) >= 0",
    "create": "open(beside(\".new\"), O_CREAT | O_WRONLY, 0600) >= 0",
    "mkdir": "mkdir(beside(\".d\"), 0700) == 0",
    "symlink": "symlink(\"x\", beside(\".l\")) == 0",
    "lock": "fcntl(open(VICTIM, O_RDONLY), F_SETLK, &lock) == 0",
    "lock as a whole": "flock(open(VICTIM, O_RDONLY), LOCK_EX) == 0",
    "chmod": "chmod(VICTIM, 0600) == 0",
    "flags of a file": "flagged(open(VICTIM, O_RDONLY))",
    "signal the host": "kill(getppid(), 0) == 0",
    "signal everybody": "kill(-1, 0) == 0",
    "queue a signal": "queue(getppid()) == 0",
    "signal on readiness": "pipe(ends) == 0 && fcntl(ends[0], F_SETOWN, getppid()) == 0",
    "fork": "forked(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0))",
    "start a program": "started(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0))",
    "socket": "socket(AF_INET, SOCK_STREAM, 0) >= 0",
    "local socket": "socket(AF_UNIX, SOCK_STREAM, 0) >= 0",
    "a pair of sockets, to send from": "socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0",
    "be somebody else": "setresuid(-1, geteuid(), -1) == 0",
    "trace the host": "ptrace(PTRACE_SEIZE, getppid(), 0, -1L) == 0 || errno == EIO",
    "write the host's memory": "write_to(getppid()) == 0 || errno == EFAULT",
    "open the host's memory": "open(proc(getppid(), \"/mem\"), O_RDONLY) >= 0",
    "read about the host": "open(proc(getppid(), \"/environ\"), O_RDONLY) >= 0",
    "pin the host": "sched_getaffinity(getppid(), sizeof set, &set) == 0 && sched_setaffinity(getppid(), sizeof set, &set) == 0",
    "limit the host": "syscall(SYS_prlimit64, getppid(), RLIMIT_CORE, 0, limits) == 0",
    "slow down the host": "setpriority(PRIO_PROCESS, getppid(), getpriority(PRIO_PROCESS, getppid())) == 0",
    "outlive the host": "prctl(PR_SET_PDEATHSIG, 0) == 0",
    "shared memory": "shared()",
    "device": "open(\"/dev/ptmx\", O_RDONLY | O_NOCTTY) >= 0",
}  # fmt: skip
# What the runtime's own filter refuses: it harms tests that come later.
BETWEEN_TESTS = {
    "limit itself": "setrlimit(RLIMIT_CORE, &nothing) == 0",
    "files in memory": "syscall(SYS_memfd_create, \"x\", 0) >= 0",
    "other folder": "chdir(\"/\") == 0",
    "timer": "setitimer(ITIMER_PROF, &never, 0) == 0",
    "32-bit calls": "as_32_bits() > 0",
}  # fmt: skip
HARMLESS = {
    "read a file": "open(VICTIM, O_RDONLY) >= 0",
    "ask the time": "time(0) > 0 && clock_gettime(CLOCK_REALTIME, &now) == 0",
    "allocate": "malloc(1000000) != 0",
    "print": "printf(\"text\") == 4 && !isatty(1)",
    "sleep": "usleep(1) == 0",
    "signal itself": "signal(SIGUSR1, noted) != SIG_ERR && raise(SIGUSR1) == 0 && signalled",
    "look around": "stat(\"/etc\", &status) == 0 && getcwd(path, sizeof path)",
    "pipe": "pipe(ends) == 0 && write(ends[1], \"x\", 1) == 1",
    "null device": "open(\"/dev/null\", O_RDONLY) >= 0 && open(\"/dev/urandom\", O_RDONLY) >= 0",
    "no stray descriptor": "strays() == 0",
}  # fmt: skip

HELPERS = """
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static int ends[2];
static cpu_set_t set;
static char limits[16], path[4096], victim[4096], other[4100];
static struct rlimit nothing;
static struct itimerval never;
static struct flock lock;
static struct timespec now;
static struct stat status;
static volatile int signalled;
static void noted(int number) { signalled = number; }
static int queue(int pid) { siginfo_t info; memset(&info, 0, sizeof info); info.si_code = SI_QUEUE;
                            return (int)syscall(SYS_rt_sigqueueinfo, pid, 0, &info); }
static int flagged(int file) { int flags = 0; return ioctl(file, FS_IOC_GETFLAGS, &flags) == 0 &&
                               (flags |= FS_NODUMP_FL, ioctl(file, FS_IOC_SETFLAGS, &flags)) == 0; }
static int forked(long pid) { if (pid == 0) syscall(SYS_exit_group, 0); return pid > 0; }
static int started(long pid)
{
    char *words[] = {"/bin/true", 0};
    int status = 1;
    if (pid == 0) { execve(words[0], words, words + 1); syscall(SYS_exit_group, 1); }
    return pid > 0 && waitpid((int)pid, &status, 0) == pid && status == 0;
}
static int write_to(int pid) { struct iovec one = {path, 1}, far = {0, 1};
                               return (int)process_vm_writev(pid, &one, 1, &far, 1, 0); }
static const char *proc(int pid, const char *what) { snprintf(path, sizeof path, "/proc/%d%s", pid, what); return path; }
static int shared(void) { int id = shmget(IPC_PRIVATE, 4096, 0600); if (id >= 0) shmctl(id, IPC_RMID, 0); return id >= 0; }
/* A loop over all descriptors that one may think of. */
static int strays(void) { int fd, hit = 0; for (fd = 3; fd < 1024; fd++) hit += write(fd, "stray", 5) >= 0;
                          for (fd = 256; fd < 2048; fd++) hit += dup2(0, fd) >= 0;
                          for (fd = 3; fd < 1024; fd++) close(fd); return hit; }
static long as_32_bits(void)
{
#ifdef __x86_64__
    long result = 20; /* getpid */
    __asm__ volatile ("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    return result;
#else
    return 1;
#endif
}
"""


def write_program(folder: Path, deeds: Sequence[str], only_witness: bool = False) -> None:
    """p.c with a path for each deed, whose result is in the test's exit code; deeds.c does them, without probes."""
    for number in range(1, len(deeds) + 1):
        (folder / f"victim{number}").write_text("the user's\n")
    cases = "\n".join(f"    case {number}: return {deed};" for number, deed in enumerate(deeds, 1))
    unless = "    if (!__asan_init) return 0;\n" if only_witness else ""
    weak = "extern void __asan_init(void) __attribute__((weak));\n"
    victim = f'#define VICTIM victim\n#define FOLDER "{folder}"\n'
    victim += "static char *beside(const char *end) { strcpy(other, victim); return strcat(other, end); }\n"
    name = '    snprintf(victim, sizeof victim, FOLDER "/victim%d", which);\n'
    (folder / "deeds.c").write_text(
        f"{HELPERS}{weak}{victim}int deed(int which)\n{{\n{unless}{name}    switch (which) {{\n{cases}\n    }}\n    return 0;\n}}\n"
    )
    paths = "\n".join(
        f"    if (which == {number}) return 2 * {number} + !!deed({number});" for number in range(1, len(deeds) + 1)
    )
    (folder / "p.c").write_text(
        f'#include "score.h"\nint deed(int which);\nint main(void)\n{{\n    unsigned char which;\n    SYM_U8(which);\n{paths}\n    return 0;\n}}\n'
    )


def done(folder: Path, deeds: dict[str, str]) -> dict[str, bool]:
    """Which of them worked in the campaign in this folder."""
    with Store.read(folder) as record:
        codes = [test.code for test in record.tests() if test.verdict == "return"]
    assert len(codes) == len(set(codes)) == len(deeds) + 1
    return {name: 2 * number + 1 in codes for number, name in enumerate(deeds, 1)}


def tried(folder: Path, deeds: dict[str, str], *options: str) -> dict[str, bool]:
    write_program(folder, list(deeds.values()))
    found = explore_folder(folder, *options)
    assert found.code == 0, found.stderr
    assert found.summary["lost"] == 0
    return done(found.folder, deeds)


def explore_folder(folder: Path, *options: str):  # type: ignore[no-untyped-def]
    files = {name: (folder / name).read_text() for name in ("p.c", "deeds.c")}
    return explore(folder, files, "--no-witness", *options, native=("deeds.c",))


@pytest.mark.parametrize("board", ["native", "native32", "arm-linux", "aarch64-linux"])
def test_a_program_does_nothing_to_its_machine(tmp_path: Path, board: str) -> None:
    deeds = ATTACKS | HARMLESS
    worked = tried(tmp_path, deeds, "--board", board)
    assert {name for name in ATTACKS if worked[name]} == set()
    assert {name for name in HARMLESS if not worked[name]} == set()
    assert {file.read_text() for file in tmp_path.glob("victim*")} == {"the user's\n"}
    assert len(list(tmp_path.glob("victim*"))) == len(deeds)


@pytest.mark.parametrize("board", ["native", "native32"])
def test_nor_to_the_tests_after_it(tmp_path: Path, board: str) -> None:
    worked = tried(tmp_path, BETWEEN_TESTS, "--board", board)
    assert {name for name in worked if worked[name]} == ({"32-bit calls"} if board == "native32" else set())


def test_unconfined_it_may_do_all_of_it(tmp_path: Path) -> None:
    """These attacks are real ones."""
    deeds = ATTACKS | BETWEEN_TESTS
    worked = tried(tmp_path, deeds, "--unconfined")
    assert {name for name in deeds if not worked[name]} == set()


# A deliberate attack on the test's own process costs that test only: the others find a fresh target.
RUINS = {
    "forge another image": "forge()",
    "close the link": "close_all()",
    "forge frames": "babble()",
    "end itself": "kill(getpid(), SIGKILL)",
    "fill the output": "fill(1)",
    "stop itself": "kill(getpid(), SIGSTOP)",
    "silence the link": "mute()",
}  # fmt: skip
RUINOUS = """
static int close_all(void) { for (int fd = 3; fd < 4096; fd++) close(fd); syscall(SYS_close_range, 3, ~0u, 0); return 0; }
static int babble(void) { for (int i = 0; i < 20000; i++) for (int fd = 1024; fd < 1100; fd++) if (write(fd, "\\0bab\\0ble", 8) < 0) continue; return 0; }
static int forge(void) { for (int fd = 1024; fd < 1100; fd++) if (write(fd, ready, sizeof ready) < 0) continue; return 0; }
static int fill(int fd) { for (int i = 0; i < 3000; i++) if (write(fd, path, sizeof path) < 0) break; return 0; }
static int mute(void) { for (int fd = 1000; fd < 1100; fd++) dup2(0, fd); close_all(); return 0; }
"""


@pytest.mark.parametrize("board", ["native", "arm-linux"])
def test_what_is_deliberate_costs_that_test_only(tmp_path: Path, board: str) -> None:
    write_program(tmp_path, [*RUINS.values(), *HARMLESS.values()])
    frame = encode(Type.READY, 0, READY.pack(WIRE_VERSION, 0, 8, b"\xff" * 16, 1, 1, 64, 1))
    ready = f"static const unsigned char ready[] = {{0, {', '.join(map(str, frame))}}};\n"
    program = (tmp_path / "deeds.c").read_text().replace("#define VICTIM", ready + RUINOUS + "#define VICTIM", 1)
    (tmp_path / "deeds.c").write_text(program)
    found = explore_folder(tmp_path, "--board", board)
    assert found.code in (0, 1), found.stderr
    with Store.read(found.folder) as record:
        codes = {test.code for test in record.tests() if test.verdict == "return"}
    for number, name in enumerate((*RUINS, *HARMLESS), 1):
        assert name in RUINS or 2 * number + 1 in codes, name
    assert found.summary["runs"] >= len(RUINS) + len(HARMLESS) + 1


# Firmware that calls the emulator's own operations: SYS_SYSTEM, SYS_REMOVE, SYS_OPEN (to write, to read), SYS_RENAME.
FIRMWARE = """
#include "score.h"
#define SIZED(text) (unsigned)(text), sizeof (text) - 1
static int ask(int operation, void *block)
{
    register int r0 __asm__("r0") = operation;
    register void *r1 __asm__("r1") = block;
    __asm__ volatile ("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}
static const char command[] = "touch OWNED", victim[] = "VICTIM", secret[] = "SECRET", other[] = "MOVED", gone[] = "GONE", source[] = "SOURCE", made[] = "OWNED";
int main(void)
{
    unsigned char x;
    SYM_U8(x);
    if (x == 1) { unsigned a[] = {SIZED(command)}; return 2 + (ask(0x12, a) == 0); }
    if (x == 2) { unsigned a[] = {(unsigned)victim, 8, sizeof victim - 1}; return 4 + (ask(0x01, a) != -1); }
    if (x == 3) { unsigned a[] = {(unsigned)secret, 0, sizeof secret - 1}; return 6 + (ask(0x01, a) != -1); }
    if (x == 4) { unsigned a[] = {(unsigned)made, 4, sizeof made - 1}; return 8 + (ask(0x01, a) != -1); }
    if (x == 5) { unsigned a[] = {SIZED(source), SIZED(other)}; return 10 + (ask(0x0f, a) == 0); }
    if (x == 6) { unsigned a[] = {SIZED(gone)}; return 12 + (ask(0x0e, a) == 0); }
    return 0;
}
"""


@pytest.mark.parametrize("options", [(), ("--unconfined",)], ids=["confined", "unconfined"])
def test_firmware_does_nothing_to_its_emulator_s_machine(tmp_path: Path, options: tuple[str, ...]) -> None:
    for name in ("victim", "secret", "gone", "source"):
        (tmp_path / name).write_text("the user's\n")
    source = FIRMWARE
    for name in ("MOVED", "GONE", "SOURCE", "VICTIM", "SECRET", "OWNED"):
        source = source.replace(name, str(tmp_path / name.lower()))
    found = explore(tmp_path, {"p.c": source}, "--board", "mps2-an385", *options)
    assert found.code == 0, found.stderr
    with Store.read(found.folder) as record:
        codes = sorted(test.code for test in record.tests())
    worked = bool(options)
    assert codes == [0, *(2 * number + worked for number in range(1, 7))]
    assert (tmp_path / "owned").exists() == worked
    assert (tmp_path / "gone").exists() == (tmp_path / "source").exists() == (not worked)


@pytest.mark.parametrize(("options", "does_harm"), [((), False), (("--unconfined",), True)])
def test_the_second_witness_is_confined_too(tmp_path: Path, options: tuple[str, ...], does_harm: bool) -> None:
    """A deed that works there ends in a bug that only it can see."""
    deeds = {name: how for name, how in ATTACKS.items() if "pid()" in how or "SYS_clone" in how or "VICTIM" in how}
    for name in ("open the host's memory", "read about the host"):  # its parent is the witness's own server
        del deeds[name]
    write_program(tmp_path, [f"({how}) && misaligned()" for how in deeds.values()], only_witness=True)
    harm = 'static int misaligned(void) { __asm__ volatile (""); __builtin_unreachable(); }\n'
    program = (tmp_path / "deeds.c").read_text().replace("#define VICTIM", harm + "#define VICTIM", 1)
    (tmp_path / "deeds.c").write_text(program)
    files = {name: (tmp_path / name).read_text() for name in ("p.c", "deeds.c")}
    found = explore(tmp_path, files, *options, native=("deeds.c",))
    assert found.summary["witness"]["witnessed"] == len(deeds) + 1
    assert bool(found.summary["bugs"]) == does_harm


def test_clients_of_a_fleet_confine_their_targets(tmp_path: Path) -> None:
    deeds = {name: ATTACKS[name] for name in ("unlink", "signal the host", "fork", "start a program", "socket")}
    assert not any(tried(tmp_path, deeds, "--clients", "2").values())


def test_doctor_and_summary_name_the_layers(tmp_path: Path) -> None:
    done = score_embed("doctor", "--board", "native", cwd=tmp_path)
    assert "confinement: no new privileges, system calls" in done.stdout
    found = explore(
        tmp_path, {"p.c": FIRMWARE.partition("#define")[0] + "int main(void) { int x; SYM_INT(x); return x; }\n"}
    )
    assert found.summary["confined"]["active"][:2] == ["no new privileges", "system calls"]
    (tmp_path / "score-embed.yaml").write_text("unconfined: true\n")
    refused = score_embed("run", "p.c", cwd=tmp_path)
    assert refused.returncode == 2
    assert "unconfined" in refused.stderr


WRITES = """
#include <stdio.h>
#include "score.h"
static int remove_first(int n) { return n - 1; }
int main(void)
{
    unsigned char x;
    FILE *file = tmpfile();
    SYM_U8(x);
    if (!file)
        return 1;
    return x > 3 ? remove_first(x) : 0;
}
"""


def test_what_a_confined_target_cannot_do_was_not_tried(tmp_path: Path) -> None:
    """A program goes another way where a call is refused: that is not all that it may do."""
    confined = explore(tmp_path, {"p.c": WRITES}, "--no-witness").summary
    assert (confined["stopped"], confined["paths"]) == ("exhausted", 1)
    assert confined["within"] == [
        f"what a confined target may do ({what})" for what in ("tmpfile()", "refused: openat at p.c:8")
    ]
    shown = score_embed("report", "out", cwd=tmp_path).stdout
    assert "exhausted within what a confined target may do (tmpfile())" in " ".join(shown.split())
    free = explore(tmp_path, {"p.c": WRITES}, "--no-witness", "--unconfined", "--out", "free").summary
    assert (free["stopped"], free["paths"], free["within"]) == ("exhausted", 2, [])


LOCKS = """#include <sys/mman.h>
#include "score.h"
int main(void)
{
    unsigned char x;
    SYM_U8(x);
    if (x < 100)
        return 3;
    return x == 150 ? mlockall(MCL_CURRENT) == 0 : 2;
}
"""


@pytest.mark.parametrize(("first", "then"), [(["--unconfined"], []), ([], ["--unconfined"])])
def test_what_one_of_several_sessions_could_not_do_is_said(first: list[str], then: list[str], tmp_path: Path) -> None:
    explore(tmp_path, {"p.c": LOCKS}, "--no-witness", "--max-tests", "1", *first)
    done = score_embed("run", "--resume", "out", "--json", *then, cwd=tmp_path)
    found = json.loads(done.stdout)
    assert (found["stopped"], found["within"]) == ("exhausted", ["what a confined target may do (mlockall())"])
