"""Many clients on this machine: the same results as one, whatever dies on the way."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from proof import FULL
from rig import rig, write_profile
from runner import score_embed

from score_embed import config
from score_embed.fleet.messages import MAX_RESULTS
from score_embed.results.store import Store

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "programs"

# 2^12 paths, one of them a bug. With SLOW each test takes at least a while, for what has to happen on the way.
MANY = """
#include "score.h"
extern int usleep(unsigned);
#ifndef SLOW
#define SLOW 0
#endif
int main(void)
{
    unsigned char b[12];
    int n = 0;
    SYM_BYTES(b, sizeof b);
    for (unsigned i = 0; i < sizeof b; i++)
        if (b[i] == 'a' + i)
            n++;
    SCORE_ASSERT(n != 12);
    usleep(SLOW);
    return n;
}
"""
PATHS = 4096
LARGE = MANY.replace("12", "15")
SLOWLY = ("--", "-DSLOW=1000")
NO_MASTER = (
    ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.geteuid() == 0 else ()
)  # modes hold for it


def run(folder: Path, *words: str, codes: tuple[int, ...] = (0, 1)) -> dict[str, Any]:
    done = score_embed("run", "--json", *words, cwd=folder)
    assert done.returncode in codes, done.stderr
    assert "Traceback" not in done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def paths_of(folder: Path) -> set[int]:
    with closing(sqlite3.connect(f"file:{folder}/campaign.db?mode=ro", uri=True, timeout=10)) as db:
        return {row[0] for row in db.execute("SELECT path FROM tests WHERE is_new")}


def recorded(folder: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{folder}/campaign.db?mode=ro", uri=True, timeout=10)) as db:
            return int(db.execute("SELECT count(*) FROM tests").fetchone()[0])
    except sqlite3.OperationalError:
        return 0  # not made yet


def verdicts_of(folder: Path) -> dict[str, int]:
    with closing(sqlite3.connect(f"file:{folder}/campaign.db?mode=ro", uri=True, timeout=10)) as db:
        return dict(db.execute("SELECT verdict, count(*) FROM tests GROUP BY verdict"))


def clients_of(server: int) -> list[int]:
    """Processes of its clients that are alive."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent, state = _stat(folder)
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if parent == server and state != "Z" and b"client" in words:
            found.append(int(folder.name))
    return found


def _stat(folder: Path) -> tuple[int, str]:
    fields = (folder / "stat").read_text().rpartition(")")[2].split()
    return int(fields[1]), fields[0]


def alive(process: int) -> bool:
    try:
        return _stat(Path(f"/proc/{process}"))[1] != "Z"
    except OSError:
        return False


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@contextmanager
def running(folder: Path, *words: str, tests: int, by: Sequence[str] = ()) -> Iterator[subprocess.Popen[str]]:
    """A campaign in `o` that has recorded so many tests. `by`: a command that starts it."""
    command = [*by, sys.executable, "-m", "score_embed.cli.main", "run", "--json", "--out", "o", *words]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            until(lambda: process.poll() is not None or recorded(folder / "o") >= tests)
            yield process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one client finds."""
    folder = tmp_path_factory.mktemp("one")
    (folder / "p.c").write_text(MANY)
    assert run(folder, "--out", "o", "p.c")["paths"] == PATHS
    return folder / "o"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "p.c").write_text(MANY)
    return tmp_path


def check_whole(folder: Path, whole: Path) -> dict[str, Any]:
    """It has found what one client finds, and nothing was lost or found twice."""
    found = json.loads((folder / "summary.json").read_text())
    wanted = json.loads((whole / "summary.json").read_text())
    assert paths_of(folder) == paths_of(whole)
    assert verdicts_of(folder) == verdicts_of(whole)
    same = (
        "stopped",
        "runs",
        "paths",
        "redundant",
        "mispredicted",
        "unchecked",
        "divergences",
        "coverage",
        "conditions",
        "incomplete",
    )
    assert {key: found[key] for key in same} == {key: wanted[key] for key in same}
    assert [(bug["kind"], bug["inputs"], bug["count"], bug["confirmed"]) for bug in found["bugs"]] == [
        (bug["kind"], bug["inputs"], bug["count"], bug["confirmed"]) for bug in wanted["bugs"]
    ]
    return dict(found)


NO_CLIENTS = "import os, sys\nif 'client' in sys.orig_argv: os._exit(4)"


@pytest.mark.parametrize("come", [True, False])
def test_a_bug_seen_once_is_run_again_by_a_session_that_has_nothing_else_to_do(
    come: bool, source: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server was killed when all pairs were done, and nobody else had seen the bug yet. If no client comes the
    campaign is as it was."""
    run(source, "--clients", "2", "--out", "o", "p.c")
    with Store.open(source / "o") as store:
        (bug,) = store.bugs()
        bug.confirmed = False
        store.put_bug(bug)
    if not come:
        (source / "site").mkdir()
        (source / "site" / "sitecustomize.py").write_text(NO_CLIENTS)
        monkeypatch.setenv("PYTHONPATH", f"{source / 'site'}:{os.environ.get('PYTHONPATH', '')}")
    found = run(source, "--resume", "o")
    assert [bug["confirmed"] for bug in found["bugs"]] == [come]
    assert (found["stopped"], found["runs"], found["paths"]) == ("exhausted", PATHS, PATHS)
    if come:
        check_whole(source / "o", whole)


def test_a_session_that_has_nothing_to_do_starts_no_client(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(source, "--clients", "2", "--out", "o", "p.c")
    (source / "site").mkdir()
    (source / "site" / "sitecustomize.py").write_text(NO_CLIENTS)
    monkeypatch.setenv("PYTHONPATH", f"{source / 'site'}:{os.environ.get('PYTHONPATH', '')}")
    done = score_embed("run", "--resume", "o", cwd=source)
    assert (done.returncode, "ended with" in done.stderr) == (1, False), done.stderr


SMALL = [
    ("native", 2, "dfs", "parser"),
    ("native", 3, "coverage", "switch_grouped"),
    ("mps2-an385", 2, "random", "parser"),
]
MORE = [
    (board, clients, strategy, program)
    for board, clients in (("native", 2), ("native", 3), ("mps2-an385", 3))
    for strategy in config.STRATEGIES
    for program in ("recursion", "tables", "median", "structs", "loops")
]


@pytest.mark.parametrize(
    ("board", "clients", "strategy", "program"), SMALL + (MORE if FULL else [])
)
def test_the_same_as_one_client(board: str, clients: int, strategy: str, program: str, tmp_path: Path) -> None:
    source = str(PROGRAMS / f"{program}.c")
    one = run(tmp_path, "--board", board, "--out", "one", source)
    many = run(tmp_path, "--board", board, "--out", "many", "--clients", str(clients), "--strategy", strategy, source)
    assert paths_of(tmp_path / "many") == paths_of(tmp_path / "one")
    assert verdicts_of(tmp_path / "many") == verdicts_of(tmp_path / "one")
    for key in ("stopped", "runs", "paths", "coverage", "unflipped", "incomplete"):
        assert many[key] == one[key]
    assert sum(client["tests"] for client in many["fleet"]["clients"]) == many["fleet"]["tests"] == many["runs"]
    assert [path.name for path in sorted((tmp_path / "many" / "tests").iterdir())]


KINDS = """
#include "score.h"
int main(void) {
    float f; double d; _Bool b; signed char s; unsigned short u; unsigned char t[3];
    SYM_FLOAT(f); SYM_DOUBLE(d); SYM_BOOL(b); SYM_SCHAR(s); SYM_USHORT(u); SYM_BYTES(t, sizeof t);
    int n = f > 1.5f && f < 2.0f;
    if (d < -0.25) n += 2;
    if (b) n += 4;
    if (s < -3) n += 8;
    if (u > 40000) n += 16;
    SCORE_ASSERT(n != 31 || t[1] != 9);
    return n;
}
"""


def test_a_fleet_is_one_whatever_kind_a_value_has(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(KINDS)
    one = run(tmp_path, "--out", "one", "p.c")
    run(tmp_path, "--out", "many", "--clients", "2", "p.c")
    assert check_whole(tmp_path / "many", tmp_path / "one")["stopped"] == "exhausted"
    inputs = [
        {
            (path.parent.name, test["path"]): {name: type(value) for name, value in test["inputs"].items()}
            for path in (tmp_path / name).glob("*/*.json")
            if (test := json.loads(path.read_text()))
        }
        for name in ("one", "many")
    ]
    common = inputs[0].keys() & inputs[1].keys()  # not their values: these go by which of two flips was answered first
    assert common
    assert [inputs[0][path] for path in common] == [inputs[1][path] for path in common]
    (bug,) = one["bugs"]
    kinds = {name: type(value) for name, value in bug["inputs"].items()}
    assert kinds == {"f": float, "d": float, "b": int, "s": int, "u": int, "t": str}
    assert bug["inputs"]["s"] < -3
    assert bug["inputs"]["u"] > 40000


def test_the_work_is_shared_and_the_record_the_same(source: Path, whole: Path) -> None:
    found = run(source, "--clients", "3", "--out", "o", "p.c", *SLOWLY)
    assert check_whole(source / "o", whole) == found
    assert {client["name"] for client in found["fleet"]["clients"]} == {"1", "2", "3"}
    assert found["fleet"]["protocol"].get("given up", 0) == 0
    assert found["fleet"]["messages"]["Pairs"] > 2  # from hand to hand …
    assert "Relayed" not in found["fleet"]["messages"]  # … directly
    done = score_embed("replay", "o", str(found["bugs"][0]["test"]), cwd=source)
    assert "1 of 1 tests reproduced" in done.stdout


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor")
def test_clients_have_several_processors(source: Path, whole: Path) -> None:
    """The server keeps to none of them, or else its clients, which it starts, would all keep to that one."""
    with running(source, "--clients", "2", "p.c", *SLOWLY, tests=20) as server:
        assert os.sched_getaffinity(server.pid) == os.sched_getaffinity(0)
        assert len(set[int]().union(*map(os.sched_getaffinity, clients_of(server.pid)))) > 1
        _, errors = server.communicate(timeout=120)
    assert server.returncode == 1, errors
    check_whole(source / "o", whole)


def test_killed_clients_are_replaced(source: Path, whole: Path) -> None:
    with running(source, "--clients", "2", "p.c", *SLOWLY, tests=300) as server:
        first = clients_of(server.pid)
        assert len(first) == 2
        os.kill(first[0], signal.SIGKILL)
        until(lambda: len(set(clients_of(server.pid)) - set(first)) == 1)
        os.kill(first[1], signal.SIGKILL)
        _, errors = server.communicate(timeout=120)
    assert server.returncode == 1, errors
    assert errors.count("was killed by signal 9") == 2
    assert check_whole(source / "o", whole)["fleet"]["protocol"]["given up"] == 2


@pytest.mark.parametrize(("tests", "clients"), [(1, 1), (1500, 3)])
def test_a_killed_server_leaves_nobody_and_goes_on(tests: int, clients: int, source: Path, whole: Path) -> None:
    with running(source, "--clients", "2", "p.c", *SLOWLY, tests=tests) as server:
        left = clients_of(server.pid)
        server.kill()
        server.wait()
    until(lambda: not any(map(alive, left)), 10)
    assert tests <= recorded(source / "o") < PATHS, "it was not killed on the way"
    run(source, "--resume", "o", "--clients", str(clients))
    check_whole(source / "o", whole)


def test_ctrl_c_drains_and_one_client_goes_on(source: Path, whole: Path) -> None:
    with running(source, "--clients", "3", "p.c", *SLOWLY, tests=500) as server:
        server.send_signal(signal.SIGINT)
        out, errors = server.communicate(timeout=60)
    assert server.returncode == 130, errors
    assert "continue with: score-embed run --resume o" in errors
    found = json.loads(out)
    assert (found["stopped"], found["runs"]) == ("interrupted", recorded(source / "o"))
    assert found["incomplete"] == []
    assert found["fleet"]["protocol"]["handed back"] > 0
    run(source, "--resume", "o", "--clients", "1")
    check_whole(source / "o", whole)


def test_limits_hold_for_all_clients_together(source: Path, whole: Path) -> None:
    found = run(source, "--clients", "3", "--max-tests", "100", "--out", "o", "p.c")
    assert (found["stopped"], found["runs"]) == ("max-tests", 100)
    found = run(source, "--resume", "o", "--max-tests", "50")  # with as many clients as before
    assert (found["stopped"], found["runs"]) == ("max-tests", 150)
    found = run(source, "--resume", "o", "--clients", "1", "--max-tests", "50")
    assert (found["stopped"], found["runs"]) == ("max-tests", 200)
    found = run(source, "--resume", "o", "--time", "0.1")
    assert found["stopped"] == "time"
    found = run(
        source, "--resume", "o", "--time", "2"
    )  # begins with the first client, however long that takes to start
    assert found["runs"] > 200
    run(source, "--resume", "o", "--clients", "2")
    check_whole(source / "o", whole)


def test_many_short_tests_are_one_result(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(LARGE)
    found = run(tmp_path, "--clients", "2", "--out", "o", "p.c")
    assert (found["stopped"], found["paths"], found["runs"], len(found["bugs"])) == ("exhausted", 2**15, 2**15, 1)
    assert len(paths_of(tmp_path / "o")) == recorded(tmp_path / "o") == 2**15
    assert sum(client["tests"] for client in found["fleet"]["clients"]) == 2**15
    assert min(client["tests"] for client in found["fleet"]["clients"]) > 0
    assert found["fleet"]["messages"]["Results"] * MAX_RESULTS < 2**15


def test_a_full_disk(tmp_path: Path) -> None:
    """The record cannot grow: the campaign ends at once with a message, and goes on when there is room."""
    (tmp_path / "p.c").write_text(LARGE)
    limit = "ulimit -f 1200; exec"  # blocks of 1024 bytes
    command = f"{limit} {sys.executable} -m score_embed.cli.main run --clients 2 --out o p.c"
    run(tmp_path, "--max-tests", "1", "--out", "warm", "p.c")  # building needs more
    done = subprocess.run(
        ["bash", "-c", f"trap '' XFSZ; {command}"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 74, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert 0 < recorded(tmp_path / "o") < 2**15
    found = run(tmp_path, "--resume", "o")
    assert (found["stopped"], found["paths"], found["runs"], len(found["bugs"])) == ("exhausted", 2**15, 2**15, 1)


@pytest.mark.parametrize("clients", [1, 2])
def test_a_folder_that_can_no_longer_be_written(clients: int, source: Path, whole: Path) -> None:
    """What is recorded stays so: the campaign ends with a message, and goes on when the folder can be written again."""
    folder = source / "o"
    with running(source, "--clients", str(clients), "p.c", *SLOWLY, tests=300, by=NO_MASTER) as campaign:
        folder.chmod(0o555)
        for file in folder.glob("campaign.db*"):
            file.chmod(0o444)
        _, errors = campaign.communicate(timeout=60)
    assert campaign.returncode == 74, errors
    assert "Traceback" not in errors
    assert "cannot write here" in errors
    assert str(folder.name) in errors
    assert recorded(folder) >= 300
    folder.chmod(0o755)
    for file in folder.glob("campaign.db*"):
        file.chmod(0o644)
    run(source, "--resume", "o", "--clients", str(clients))
    check_whole(folder, whole)


def test_a_client_for_each_board_of_the_lab(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two simulated boards with empty flash, each at a port of its own. One is unplugged on the way, then the other."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(source / "config"))
    slow = MANY.replace("SLOW 0", "SLOW 30000")
    (source / "p.c").write_text(slow.replace("b[12]", "b[8]").replace("!= 12", "!= 8"))
    write_profile(source, line={"port": "", "reconnect-seconds": 1})
    devices = ""
    for name in ("a", "b"):
        (source / name).mkdir()
        devices += f"  {name}: {{port: {name}/port, board: desk, flash: [cp, '{{elf}}', {name}/flash.elf]}}\n"
    (source / "score-embed-lab.yaml").write_text(f"devices:\n{devices}")
    with rig(source / "a") as one:
        with (
            rig(source / "b") as two,
            running(source, "--board", "desk.yaml", "--clients", "2", "p.c", tests=20) as server,
        ):
            until(lambda: len(workers(source / "o")) == 2)
            two.kill()
            until(lambda: len(clients_of(server.pid)) == 1)
            before = recorded(source / "o")
            until(lambda: recorded(source / "o") > before + 10)
            one.kill()
            out, errors = server.communicate(timeout=60)
        assert server.returncode == 4, out + errors
        assert errors.count("ended with exit code 4") == 2
        assert "no client is left" in errors
        assert "a/port" in errors
        assert "continue with: score-embed run --resume o" in errors
    with rig(source / "a"):
        with rig(source / "b"):
            assert run(source, "--resume", "o", "--max-tests", "5")["stopped"] == "max-tests"
        assert run(source, "--resume", "o", "--clients", "1", "--port", "a", "--max-tests", "5")["runs"] < 256
        done = score_embed("run", "--resume", "o", "--clients", "2", "--max-tests", "5", cwd=source)
        assert (done.returncode, "2 clients need 2 boards" in done.stderr) == (
            2,
            True,
        )  # not the port of the one before
        found = run(source, "--resume", "o", "--clients", "1")
    assert (found["stopped"], found["paths"], found["runs"], found["incomplete"]) == ("exhausted", 256, 256, [])


def workers(folder: Path) -> list[str]:
    """Clients that have had tests recorded."""
    with closing(sqlite3.connect(f"file:{folder}/campaign.db?mode=ro", uri=True, timeout=10)) as db:
        fleet = json.loads(db.execute("SELECT value FROM meta WHERE key = 'fleet'").fetchone()[0])
    return [client["name"] for client in fleet["clients"] if client["tests"]]


def test_boards_and_clients_must_fit(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(source / "config"))
    (source / "score-embed-lab.yaml").write_text("devices:\n  a: {port: /dev/null, board: stm32}\n")
    done = score_embed("run", "--board", "stm32", "--run", "serial", "--clients", "2", "p.c", cwd=source)
    assert done.returncode == 2
    assert "2 clients need 2 boards; the lab has 1 of 'stm32' plugged in" in done.stderr
    done = score_embed("run", "--board", "stm32", "--port", "/dev/null", "--clients", "2", "p.c", cwd=source)
    assert done.returncode == 2
    assert "one port is named" in done.stderr
    assert not (source / "score-out").exists()
