"""The experiment of SCORE's paper: one program at several numbers of clients, again and again with other seeds, and the
same number of campaigns that know nothing of each other beside it.

Each campaign is a process of its own, `score-embed run` as a user starts it, with a folder of its own. A campaign that
is finished is not run again, so an experiment that was stopped goes on when the same command is given once more.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct

from score_embed.campaign.ending import BUGS, LOST, OPEN
from score_embed.command import held
from score_embed.contract.words import Stop
from score_embed.errors import ScoreError, StorageError, UsageError
from score_embed.fleet.process.launcher import die_with
from score_embed.results import json_text, summary, trial
from score_embed.results.trial import Trial

PLAN = "experiment.json"
_FINISHED = (Stop.EXHAUSTED, Stop.DRAINED, Stop.TIME, Stop.MAX_TESTS, Stop.BUG, Stop.GOAL)
_ENDED = (0, BUGS, LOST, OPEN)  # exit codes of campaigns that came to their end
_PATIENCE = 60.0  # seconds for a campaign to save what it has when it is told to end


class CampaignError(ScoreError):
    """A campaign of the experiment failed; its exit code is ours."""

    def __init__(self, what: str, where: str, hint: str, exit_code: int) -> None:
        super().__init__(what, where, hint)
        self.exit_code = exit_code


class Identity(Struct, frozen=True, forbid_unknown_fields=True):
    """What makes two experiments the same but for how far they go. It is kept in the experiment's folder."""

    counts: tuple[int, ...]
    seed: int
    words: tuple[str, ...]


class _Ended(Struct):
    """What of a campaign's summary says how it ended."""

    stopped: str


@dataclass(frozen=True)
class Plan:
    """`words`: of every campaign's command line. `ports`: of the boards, if each client needs one."""

    folder: Path
    counts: Sequence[int]
    repeats: int
    seed: int
    independent: bool
    words: Sequence[str]
    ports: Sequence[str] = ()

    def seeds(self, repeat: int, clients: int) -> range:
        """The seeds of a trial's campaigns: no two independent campaigns have the same. The first is the fleet's."""
        first = self.seed + (repeat - 1) * max(self.counts)
        return range(first, first + clients)

    def port(self, number: int) -> list[str]:
        """Words for a campaign of one client: each of those that run at the same time has a board of its own."""
        return ["--port", self.ports[number]] if self.ports else []

    @property
    def identity(self) -> Identity:
        return Identity(tuple(self.counts), self.seed, tuple(self.words))


def run(plan: Plan) -> Iterator[Trial]:
    """All trials, each as soon as it is done."""
    _begin(plan)
    for repeat in range(1, plan.repeats + 1):
        for clients in plan.counts:
            folder = plan.folder / f"{clients}-clients" / str(repeat)
            seeds = plan.seeds(repeat, clients)
            together = ["--clients", str(clients)] if clients > 1 else plan.port(0)
            _explore(plan, [(folder / "fleet", together, seeds[0])])
            yield trial.distributed(folder / "fleet", clients, seeds[0])
            if plan.independent and clients > 1:
                alone = [folder / f"alone-{seed}" for seed in seeds]
                _explore(plan, [(one, plan.port(n), seeds[n]) for n, one in enumerate(alone)])
                yield trial.independent(alone, seeds[0])


def _begin(plan: Plan) -> None:
    """Make the folder, or see that it is of the same experiment."""
    path = plan.folder / PLAN
    try:
        plan.folder.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_bytes(msgspec.json.format(msgspec.json.encode(plan.identity), indent=2) + b"\n")
        elif _identity(path) != plan.identity:
            hint = "Choose another folder with --out, or give the same program, options, seed and numbers of clients."
            raise UsageError("there is another experiment in this folder", str(plan.folder), hint)
    except OSError as error:
        raise _unwritable(error, plan.folder) from error


def _identity(path: Path) -> Identity | None:
    """Of which experiment a folder is; None if nobody can tell."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Identity)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _explore(plan: Plan, campaigns: Sequence[tuple[Path, Sequence[str], int]]) -> None:
    """Run campaigns at the same time: (folder, further words, seed) each."""
    running: list[tuple[Path, subprocess.Popen[bytes]]] = []
    try:
        for folder, words, seed in campaigns:
            if not _is_finished(folder):
                command = [sys.executable, "-m", "score_embed.cli.main", "run", "--json", "--no-witness"]
                command += ["--out", str(folder), "--seed", str(seed), *words, *plan.words]
                with held():
                    running.append((folder, _start(command, _log(folder))))
        for folder, process in running:
            code = process.wait()
            if code not in _ENDED:
                raise _failed(folder, code)
    finally:
        _stop([process for _, process in running])


def _log(folder: Path) -> Path:
    """Where a campaign's messages go: beside its folder."""
    return folder.with_name(f"{folder.name}.log")


def _is_finished(folder: Path) -> bool:
    """Did the campaign come to its end? One that did not makes room for another."""
    try:
        if json_text.read((folder / summary.FILE).read_bytes(), _Ended).stopped in _FINISHED:
            return True
    except (OSError, ValueError):
        pass
    shutil.rmtree(folder, ignore_errors=True)
    return False


def _start(command: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as file:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=file,
                preexec_fn=partial(die_with, os.getpid()),  # this process has one thread
            )
    except OSError as error:
        raise _unwritable(error, log) from error


def _failed(folder: Path, code: int) -> CampaignError:
    said = _log(folder).read_text(encoding="utf-8", errors="replace").splitlines()
    what = next((line for line in reversed(said) if "error: " in line), f"it ended with exit code {code}")
    hint = f"All it said is in {_log(folder)}; try `score-embed run` with the same options."
    return CampaignError(f"a campaign of the experiment failed: {what}", str(folder), hint, code)


def _unwritable(error: OSError, path: Path) -> StorageError:
    return StorageError(f"cannot write here: {error.strerror}", str(path), "Choose another folder with --out.")


def _stop(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """End those that still run: first as by Ctrl-C, so that they leave nothing behind."""
    for process in processes:
        if process.poll() is None:
            process.terminate()
    for process in processes:
        try:
            process.wait(timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
