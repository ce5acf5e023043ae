"""Everything that can be killed is killed, and what the campaign finds is compared with an independent model.

A seed makes a program, chooses how it is explored (alone, with clients, by a server whose clients live in network
namespaces of their own; natively or in QEMU), and when what is attacked: hosts, clients and targets are killed or
stopped for a while, the disk is full for a while, the network is cut or slow. Sessions that end go on until nothing is
left, and tests that were set aside are repeated. Then the record must hold each path of the program once, its bugs and
nothing else; nobody may be left, nor a lock.

Whoever uses this becomes the parent of orphans (a subreaper), to see them.
"""

from __future__ import annotations

import ctypes
import fcntl
import itertools
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from score_embed.campaign.ending import LOST
from score_embed.results.store import Store

CLI = (sys.executable, "-m", "score_embed.cli.main")
MODES = ("alone", "clients", "server")
BOARDS = ("native", "native", "native", "mps2-an385")
ATTACKS = 60.0  # seconds in which a campaign is attacked, at most
CALM = 300.0  # … and in which it has to end afterwards
GRACE = 10.0  # seconds in which those that are left behind may end
DISK = 32 << 20  # bytes of the disk that is filled
CLIENTS = 3
PATHS = ((60, 250), (500, 1500))  # of a program in an emulator, and natively
_EXITS = frozenset({0, 1, LOST, 4, 74, 130, -signal.SIGKILL, -signal.SIGTERM})
_NEVER_BEGAN = ("never began", "there is no campaign in this folder", "there is no such folder", "has run no test yet")
_FIRST = "were killed while they ran the first test"
_PR_SET_CHILD_SUBREAPER = 36

# The program, and what it does --------------------------------------------------------------------------------------


class Branch(NamedTuple):
    """`if (b[byte] OP constant) { body }`; without a body an assertion of the opposite."""

    byte: int
    op: str
    constant: int
    body: tuple[Branch, ...] | None

    def holds(self, data: Sequence[int]) -> bool:
        value = data[self.byte]
        return {"==": value == self.constant, "<": value < self.constant, ">": value > self.constant}[self.op]


class Program(NamedTuple):
    size: int  # bytes of input
    branches: tuple[Branch, ...]

    def path(self, data: Sequence[int]) -> tuple[bool, ...]:
        """The decisions of this input; the last one is an assertion's, if that fails."""
        taken: list[bool] = []
        _follow(self.branches, data, taken)
        return tuple(taken)

    def model(self) -> set[tuple[bool, ...]]:
        """All paths. Conditions look at one byte each, so one value of each class of a byte's values is enough."""
        conditions = list(_flat(self.branches))
        classes = []
        for byte in range(self.size):
            kinds = {
                tuple(c.holds([value] * self.size) for c in conditions if c.byte == byte): value for value in range(256)
            }
            classes.append(sorted(kinds.values()))
        return {self.path(data) for data in itertools.product(*classes)}

    def fails(self, data: Sequence[int]) -> bool:
        """This input ends in the assertion."""
        return not _follow(self.branches, data, [])

    def source(self, pause: str) -> str:
        lines = [
            '#include "score.h"',
            "extern int usleep(unsigned);",
            "static volatile int y;",
            "int main(void)",
            "{",
            f"unsigned char b[{self.size}];",
            "SYM_BYTES(b, sizeof b);",
            pause,
            *_lines(self.branches),
            "return 0;",
            "}",
        ]
        return "\n".join(lines) + "\n"


def _follow(branches: Sequence[Branch], data: Sequence[int], taken: list[bool]) -> bool:
    """False: an assertion failed."""
    for branch in branches:
        taken.append(branch.holds(data))
        if taken[-1] and (branch.body is None or not _follow(branch.body, data, taken)):
            return False
    return True


def _flat(branches: Sequence[Branch]) -> Iterator[Branch]:
    for branch in branches:
        yield branch
        yield from _flat(branch.body or ())


def _lines(branches: Sequence[Branch]) -> Iterator[str]:
    for byte, op, constant, body in branches:
        if body is None:
            yield f"SCORE_ASSERT(!(b[{byte}] {op} {constant}));"
        else:
            yield f"if (b[{byte}] {op} {constant}) {{ y++;"
            yield from _lines(body)
            yield "}"


def program(seed: int, fewest: int, most: int) -> Program:
    """One with so many paths."""
    rng = random.Random(f"program {seed}")
    while True:
        size = rng.randint(3, 6)

        def branch(depth: int, size: int = size) -> Branch:
            body = (
                tuple(branch(depth + 1) for _ in range(rng.randint(0, 2))) if depth < 2 and rng.random() < 0.3 else ()
            )
            return Branch(rng.randrange(size), rng.choice(("==", "<", ">")), rng.randint(1, 254), body)

        branches = [branch(0) for _ in range(rng.randint(6, 11))]
        # The bug: two bytes have to have the right value.
        bug = Branch(size - 1, "==", 77, (Branch(0, "==", 78, None),))
        branches.insert(rng.randrange(len(branches) + 1), bug)
        made = Program(size, tuple(branches))
        if fewest <= len(made.model()) <= most and made.fails([78, *[0] * (size - 2), 77]):
            return made


# Processes ----------------------------------------------------------------------------------------------------------


def adopt_orphans() -> None:
    """Whoever loses its parent becomes a child of this process."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def descendants(process: int) -> list[int]:
    found = []
    for task in _tasks(process):
        with suppress(OSError, ValueError):
            for child in map(int, Path(f"/proc/{process}/task/{task}/children").read_text().split()):
                found += [child, *descendants(child)]
    return found


def _tasks(process: int) -> list[str]:
    with suppress(OSError):
        return os.listdir(f"/proc/{process}/task")
    return []


def words_of(process: int) -> list[str]:
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace").split("\0")
    return []


def is_target(words: Sequence[str]) -> bool:
    """QEMU, or an image that was told the numbers of its link's descriptors."""
    if not words or "qemu-system" in words[0]:
        return bool(words)
    return len(words) > 2 and words[1].isdecimal() and words[2].isdecimal()


def is_client(words: Sequence[str]) -> bool:
    return "score_embed.cli.main" in words and "client" in words


# The world ----------------------------------------------------------------------------------------------------------


@contextmanager
def disk(folder: Path, size: int) -> Iterator[bool]:
    """A small disk there, if this process may mount one."""
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "score-nemesis", str(folder)], capture_output=True, check=False
    )
    try:
        yield done.returncode == 0
    finally:
        if done.returncode == 0:
            subprocess.run(["umount", "-l", str(folder)], capture_output=True, check=False)


class Network:
    """A namespace for the server and one for each client, with a cable from each of these to the server's."""

    ADDRESS = "10.77.0.1"

    def __init__(self, name: str) -> None:
        self._name = name

    @staticmethod
    def is_possible() -> bool:
        """Namespaces and cables can be made."""
        if os.geteuid() != 0 or shutil.which("ip") is None:
            return False
        with suppress(subprocess.CalledProcessError), Network(f"probe{os.getpid() % 10000}"):
            return True
        return False

    def __enter__(self) -> Network:
        try:
            self._ip("netns", "add", self.server)
            self._in(self.server, "link", "set", "lo", "up")
            self._in(self.server, "addr", "add", f"{self.ADDRESS}/32", "dev", "lo")
            for number in range(1, CLIENTS + 1):
                self._plug_in(number)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for name in (self.server, *(self.client(number) for number in range(1, CLIENTS + 1))):
            with suppress(subprocess.CalledProcessError):
                self._ip("netns", "del", name)

    def _plug_in(self, number: int) -> None:
        client = self.client(number)
        self._ip("netns", "add", client)
        self._in(client, "link", "set", "lo", "up")
        self._in(self.server, "link", "add", f"c{number}", "type", "veth", "peer", "name", "s", "netns", client)
        self._in(self.server, "addr", "add", f"10.77.{number}.1/24", "dev", f"c{number}")
        self._in(self.server, "link", "set", f"c{number}", "up")
        self._in(client, "addr", "add", f"10.77.{number}.2/24", "dev", "s")
        self.mend(number)

    @property
    def server(self) -> str:
        return f"scn-{self._name}-s"

    def client(self, number: int) -> str:
        return f"scn-{self._name}-{number}"

    def within(self, name: str) -> list[str]:
        """Words before a command."""
        return ["ip", "netns", "exec", name]

    def cut(self, number: int) -> None:
        self._in(self.client(number), "link", "set", "s", "down")

    def mend(self, number: int) -> None:
        client = self.client(number)
        self._in(client, "link", "set", "s", "up")
        self._in(client, "route", "replace", "default", "via", f"10.77.{number}.1")
        subprocess.run(
            [*self.within(client), "tc", "qdisc", "del", "dev", "s", "root"], capture_output=True, check=False
        )

    def slow(self, number: int) -> None:
        """What it sends waits up to half a second. (A bucket: not every kernel has netem.)"""
        words = [
            "tc",
            "qdisc",
            "replace",
            "dev",
            "s",
            "root",
            "tbf",
            "rate",
            "64kbit",
            "burst",
            "2k",
            "latency",
            "500ms",
        ]
        subprocess.run([*self.within(self.client(number)), *words], capture_output=True, check=False)

    def _in(self, name: str, *words: str) -> None:
        self._ip("-n", name, *words)

    def _ip(self, *words: str) -> None:
        subprocess.run(["ip", *words], capture_output=True, check=True)


# A campaign under attack --------------------------------------------------------------------------------------------


@dataclass
class Figures:
    attacks: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)  # of sessions, by exit code
    campaigns: Counter[str] = field(default_factory=Counter)  # by mode and board
    paths: int = 0
    retried: int = 0
    set_aside: int = 0
    deviations: list[str] = field(default_factory=list)


class Deviation(Exception):
    pass


class Attacked:
    """One campaign, from its first session to the comparison with its model."""

    def __init__(self, seed: int, mode: str, board: str, folder: Path, figures: Figures, seconds: float) -> None:
        self.seed, self.mode, self.board = seed, mode, board
        self._rng, self._figures, self._folder = random.Random(seed), figures, folder
        self._program = program(seed % 8, *PATHS[board == "native"])
        self._seconds = seconds
        self._has_disk = False
        self._network: Network | None = None
        self._host: subprocess.Popen[bytes] | None = None
        self._clients: dict[int, subprocess.Popen[bytes]] = {}
        self._later: list[tuple[float, Callable[[], None]]] = []  # what an attack has to undo, and when
        self._log = folder / "log"
        self._failures = 0  # sessions that came to no end though nobody disturbed them
        self._limited = False  # the next session's files may not grow

    def run(self) -> None:
        """Raises Deviation if it does not end as it must."""
        with ExitStack() as stack:
            self._has_disk = stack.enter_context(disk(self._folder / "disk", DISK))
            if self.mode == "server":
                self._network = stack.enter_context(Network(str(os.getpid() % 10000)))
                self._once("keys", "k", *(f"n{number}" for number in range(1, CLIENTS + 1)))
            stack.callback(self._end_all)
            pause = "usleep(3000);" if self.board == "native" else "for (volatile int i = 0; i < 500; i++) ;"
            (self._folder / "p.c").write_text(self._program.source(pause))
            try:
                self._explore()
                self._compare()
            except Deviation:
                with suppress(OSError, shutil.Error):
                    shutil.copytree(self.out, self._folder / "o")  # the disk goes
                raise

    # Sessions -----------------------------------------------------------------------------------------------

    @property
    def out(self) -> Path:
        return self._folder / "disk" / "o"

    def _explore(self) -> None:
        """Session after session, until nothing is left."""
        attacked_until = time.monotonic() + self._seconds * self._rng.uniform(0.2, 1)
        retry = False
        while True:
            calm = time.monotonic() >= attacked_until
            code, said = self._session(attacked_until if not calm else None, retry)
            self._figures.ends[str(code)] += 1
            self._check_end(code, said)
            if code == 2:
                if not any(words in said for words in _NEVER_BEGAN):
                    raise Deviation(f"exit code 2: {said[-500:]}")
                shutil.rmtree(self.out, ignore_errors=True)
                continue
            retry = False
            if code == 4 and _FIRST in said:
                retry = True  # it was killed at the first test, twice
            if code not in (0, 1, LOST):
                if calm:
                    self._failures += 1
                    if self._failures > 3:
                        raise Deviation(f"it does not come to its end (exit code {code}): {said[-500:]}")
                continue
            found = json.loads((self.out / "summary.json").read_text())
            if not found["lost"]:
                return
            if found["stopped"] != "drained":
                raise Deviation(f"{found['lost']} tests are lost, and it is {found['stopped']}")
            self._figures.set_aside += found["lost"]
            retry, attacked_until = True, 0.0

    def _session(self, attacked_until: float | None, retry: bool) -> tuple[int, str]:
        with self._log.open("wb") as log:
            self._host = self._start(self._words(retry), log, self._network.server if self._network else None)
            calm_since = time.monotonic() if attacked_until is None else attacked_until
            while self._host.poll() is None:
                now = time.monotonic()
                self._look_after_clients()
                if now > calm_since + CALM:
                    raise Deviation(f"it hangs: no end within {CALM:.0f} s without attacks")
                self._undo(now if now < calm_since else float("inf"))
                if now < calm_since:
                    time.sleep(self._rng.choice((0.01, 0.05, 0.2, 0.5)))
                    self._attack()
                else:
                    time.sleep(0.05)
            self._undo(float("inf"))
            return self._host.returncode, self._log.read_text(errors="replace")

    def _words(self, retry: bool) -> list[str]:
        begun = (self.out / "campaign.db").exists()
        more = ["--retry-lost"] if retry else []
        if self.mode == "server":
            words = ["server", "--listen", f"tcp://{Network.ADDRESS}:5470", "--keys", "k/server.key", *more]
            return [*words, str(self.out)] if begun else [*words, *self._fresh()]
        return ["run", "--resume", str(self.out), *more] if begun else ["run", *self._fresh()]

    def _fresh(self) -> list[str]:
        clients = ["--clients", str(CLIENTS)] if self.mode == "clients" else []
        return ["--no-witness", "--board", self.board, "--out", str(self.out), *clients, "p.c"]

    def _start(self, words: Sequence[str], log: Any, namespace: str | None) -> subprocess.Popen[bytes]:
        before = self._network.within(namespace) if self._network and namespace else []
        limit = partial(_limit_files, self._folder) if self._limited and not namespace else None
        self._limited = False
        return subprocess.Popen(
            [*before, *CLI, *words],
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, "TMPDIR": str(self._folder)},
            preexec_fn=limit,
        )

    def _once(self, *words: str) -> None:
        subprocess.run([*CLI, *words], cwd=self._folder, capture_output=True, check=True, timeout=60)

    def _look_after_clients(self) -> None:
        """Those of other machines are started by somebody, again if they die."""
        if self._network is None:
            return
        for number in range(1, CLIENTS + 1):
            client = self._clients.get(number)
            if client is not None and client.poll() is None:
                continue
            log = self._folder / f"client{number}.log"
            if client is not None and "Traceback" in log.read_text(errors="replace"):
                raise Deviation(f"a client: {log.read_text(errors='replace')[-800:]}")
            name = self._network.client(number)
            at = ("--server", f"tcp://{Network.ADDRESS}:5470")
            words = ["client", *at, "--keys", f"k/n{number}.key", "--name", f"n{number}"]
            with log.open("wb") as file:
                self._clients[number] = self._start(words, file, name)

    # Attacks ------------------------------------------------------------------------------------------------

    def _attack(self) -> None:
        host = self._host
        assert host is not None
        if host.poll() is not None:
            return
        below = [(process, words_of(process)) for process in [host.pid, *descendants(host.pid)]]
        for client in self._clients.values():
            below += [(process, words_of(process)) for process in [client.pid, *descendants(client.pid)]]
        targets = [process for process, words in below if is_target(words)]
        clients = [process for process, words in below if is_client(words)]
        if not targets and self._rng.random() < 0.9:
            return  # it starts, which takes longer than all else
        chances: list[tuple[float, str, Callable[[], None]]] = [
            (0.25, "host killed", lambda: os.kill(host.pid, signal.SIGKILL)),
            (0.08, "host told to end", lambda: os.kill(host.pid, signal.SIGTERM)),
            (0.3, "host stopped", lambda: self._stop(host.pid)),
        ]
        if targets:
            chances.append((4, "target killed", lambda: os.kill(self._rng.choice(targets), signal.SIGKILL)))
            chances.append((1, "target stopped", lambda: self._stop(self._rng.choice(targets))))
        if clients:
            chances.append((1.5, "client killed", lambda: os.kill(self._rng.choice(clients), signal.SIGKILL)))
            chances.append((1, "client stopped", lambda: self._stop(self._rng.choice(clients))))
        if self._has_disk:
            chances.append((0.15, "disk filled", self._fill))
        else:
            chances.append((0.2, "files limited", self._limit))
        if self._network is not None:
            chances.append((1.5, "network cut", lambda: self._disturb(self._network.cut)))  # type: ignore[union-attr]
            chances.append((1, "network slow", lambda: self._disturb(self._network.slow)))  # type: ignore[union-attr]
        kinds = self._rng.choices(range(len(chances)), [weight for weight, _, _ in chances])
        _, name, attack = chances[kinds[0]]
        with suppress(ProcessLookupError):
            attack()
            self._figures.attacks[name] += 1

    def _stop(self, process: int) -> None:
        os.kill(process, signal.SIGSTOP)
        self._then(self._rng.choice((0.05, 0.5, 3.0)), lambda: _continue(process))

    def _fill(self) -> None:
        full = self._folder / "disk" / "full"
        with suppress(OSError), full.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 16))
        self._then(self._rng.uniform(0.2, 3), lambda: full.unlink(missing_ok=True))

    def _limit(self) -> None:
        """Without a disk of its own: the next session's files may not grow much."""
        self._limited = True

    def _disturb(self, how: Callable[[int], None]) -> None:
        assert self._network is not None
        number = self._rng.randint(1, CLIENTS)
        how(number)
        self._then(self._rng.choice((0.2, 1.0, 5.0)), partial(self._network.mend, number))

    def _then(self, seconds: float, what: Callable[[], None]) -> None:
        self._later.append((time.monotonic() + seconds, what))

    def _undo(self, now: float) -> None:
        """What is due until then."""
        due = [what for at, what in self._later if at <= now]
        self._later = [(at, what) for at, what in self._later if at > now]
        for what in due:
            what()

    # The end ------------------------------------------------------------------------------------------------

    def _check_end(self, code: int, said: str) -> None:
        if "Traceback" in said or code == 70:
            raise Deviation(f"exit code {code}: {said[-1500:]}")
        if code not in _EXITS and code != 2:
            raise Deviation(f"exit code {code}: {said[-500:]}")

    def _end_all(self) -> None:
        self._undo(float("inf"))
        for process in filter(None, (self._host, *self._clients.values())):
            if process.poll() is None:
                process.kill()
            process.wait()

    def _compare(self) -> None:
        for client in self._clients.values():
            with suppress(subprocess.TimeoutExpired):
                client.wait(GRACE / CLIENTS)
            client.terminate()  # it came when the server had gone, and waits for another
        for client in self._clients.values():
            try:
                with suppress(subprocess.TimeoutExpired):
                    client.wait(GRACE)
                client.terminate()  # it would wait minutes for somebody who takes what it has left: at once
                client.wait(3 * GRACE)
            except subprocess.TimeoutExpired:
                raise Deviation(f"client {client.pid} does not end when it is told to") from None
        deadline = time.monotonic() + GRACE
        while (left := _alive(descendants(os.getpid()))) and time.monotonic() < deadline:
            time.sleep(0.1)
        if left:
            raise Deviation(f"left behind: {[' '.join(words_of(process))[:200] for process in left]}")
        with (self.out / "campaign.lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        found = json.loads((self.out / "summary.json").read_text())
        model = self._program.model()
        with Store.read(self.out) as record:
            tests = list(record.tests())
        short = [
            (test.number, test.verdict)
            for test in tests
            if test.outcome == "new" and len(test.input) < self._program.size
        ]
        if short:
            raise Deviation(f"these tests ended before the program's first branch: {short}")
        paths = [self._program.path(test.input) for test in tests if test.outcome == "new"]
        self._figures.paths += len(paths)
        self._figures.retried += found["retried"]
        if len(paths) != len(set(paths)):
            raise Deviation(f"{len(paths) - len(set(paths))} paths were found twice")
        if set(paths) != model:
            raise Deviation(f"{len(model - set(paths))} paths are missing, {len(set(paths) - model)} are too many")
        said = [bug["kind"] for bug in found["bugs"]]
        if said != ["assertion"]:
            raise Deviation(f"the bugs are {said}")
        if (found["stopped"], found["incomplete"]) != ("exhausted", []):
            raise Deviation(f"it is {found['stopped']}: {found['incomplete']}")


def _alive(processes: Sequence[int]) -> list[int]:
    """Those that are no zombies; orphans that have ended are buried."""
    found = []
    for process in processes:
        with suppress(ChildProcessError):
            os.waitpid(process, os.WNOHANG)
        with suppress(OSError):
            if Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
                found.append(process)
    return found


def _continue(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGCONT)


def _limit_files(folder: Path) -> None:
    sizes = [path.stat().st_size for path in folder.rglob("campaign.db*") if path.is_file()]
    most = max((*sizes, 1 << 16)) + (1 << 15)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def attack(
    seed: int,
    figures: Figures,
    modes: Sequence[str] = MODES,
    boards: Sequence[str] = BOARDS,
    seconds: float = ATTACKS,
) -> None:
    """One campaign that is attacked for so long at most, all of which follows from its seed but for the machine's own
    timing. A deviation is noted, with the folder, which stays then."""
    rng = random.Random(f"kind {seed}")
    mode, board = rng.choice(modes), rng.choice(boards)
    folder = Path(tempfile.mkdtemp(prefix="score-nemesis-", dir="/tmp"))  # names of sockets are short
    figures.campaigns[f"{mode}, {board}"] += 1
    try:
        Attacked(seed, mode, board, folder, figures, seconds).run()
    except Deviation as error:
        figures.deviations.append(f"seed {seed} ({mode}, {board}; {folder}): {error}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
