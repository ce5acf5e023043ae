"""Processes of the command line that need not import it: a process that has done so forks a child for each command.

To start Python and import z3 and ours takes two thirds of what a small campaign takes, and the tests start hundreds.
A child has the caller's arguments, folder, environment and standard streams, runs the module as `python -m` does, and
ends as a process ends. Two things differ from a process of its own: its parent is a watcher, and all children of a
test process order sets alike (PYTHONHASHSEED). Tests about starting, signals or order start a process themselves.

This module is both sides. As a program it serves: its argument is the number of a socket, a message of it is a JSON
object with `arguments`, `folder`, `environment`, and comes with four descriptors: the three streams, and a pipe for the
answer, which is a line with the child's number, and, after its end, one with its wait status and processor seconds.
"""

from __future__ import annotations

import array
import gc
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

MODULE = "score_embed.cli.main"
MOST = 1 << 20  # bytes of a message
READ_AT_START = ("PYTHON", "LD_", "MALLOC_", "LC_", "LANG")  # variables that a process reads only when it starts


class Server:
    """What a test process has of it. It starts with the first command and ends with the test process."""

    def __init__(self) -> None:
        self.start = _of_start(os.environ)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket = ours
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MOST)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,  # Python looks once whether a stream is a terminal, or can be wound back
                stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
            )

    def fits(self, environment: Mapping[str, str]) -> bool:
        """Whether a process that starts in this environment starts as the server did."""
        return self.process.poll() is None and self.start == _of_start(environment)

    def close(self) -> None:
        self.socket.close()
        self.process.communicate(timeout=60)

    def run(
        self, arguments: Sequence[str], folder: Path, deadline: float
    ) -> tuple[subprocess.CompletedProcess[str], float]:
        """The command's end and its processor seconds; raises subprocess.TimeoutExpired after `deadline` seconds."""
        request = {"arguments": arguments, "folder": str(folder), "environment": dict(os.environ)}
        with ExitStack() as stack:
            null = stack.enter_context(open(os.devnull, "rb"))
            pipes = [os.pipe() for _ in range(3)]
            readers = [stack.enter_context(os.fdopen(reader, "rb", 0)) for reader, _ in pipes]
            writers = [writer for _, writer in pipes]
            try:
                socket.send_fds(self.socket, [json.dumps(request).encode()], [null.fileno(), *writers])
            finally:
                for writer in writers:
                    os.close(writer)
            output, errors, answer = _gather(readers, arguments, deadline)
        _, end = answer.decode().splitlines()
        status, seconds = end.split()
        code = os.waitstatus_to_exitcode(int(status))
        return subprocess.CompletedProcess(arguments, code, _text(output), _text(errors)), float(seconds)


def _of_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(READ_AT_START)}


def _text(data: bytes) -> str:
    return data.decode().replace("\r\n", "\n").replace("\r", "\n")  # as subprocess does


def _gather(readers: Sequence[IO[bytes]], arguments: Sequence[str], deadline: float) -> list[bytes]:
    """All that comes out of the pipes until their ends; the last of them is the answer, which names the process."""
    until = time.monotonic() + deadline
    found = [bytearray() for _ in readers]
    with selectors.DefaultSelector() as selector:
        for index, reader in enumerate(readers):
            selector.register(reader, selectors.EVENT_READ, index)
        while selector.get_map():
            ready = selector.select(max(0, until - time.monotonic()))
            if not ready and time.monotonic() >= until:
                number = bytes(found[-1]) or os.read(readers[-1].fileno(), 64)  # the watcher says it at once
                os.kill(int(number.split()[0]), signal.SIGKILL)
                raise subprocess.TimeoutExpired(list(arguments), deadline, bytes(found[0]), bytes(found[1]))
            for key, _ in ready:
                data = os.read(key.fd, 1 << 16)
                found[key.data] += data
                if not data:
                    selector.unregister(key.fileobj)
    return [bytes(part) for part in found]


def serve(requests: socket.socket) -> None:
    """Returns in the child that carries a command out: the rest of it is the command's."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for watchers
    while True:
        message, descriptors = _receive(requests)
        if not message:
            os._exit(0)
        if os.fork() == 0:
            requests.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            return _watch(json.loads(message), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _receive(requests: socket.socket) -> tuple[bytes, list[int]]:
    descriptors = array.array("i")
    message, ancillary, _, _ = requests.recvmsg(MOST, socket.CMSG_LEN(4 * descriptors.itemsize))
    for level, kind, data in ancillary:
        assert (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS)
        descriptors.frombytes(data)
    return message, list(descriptors)


def _watch(request: dict[str, object], descriptors: list[int]) -> None:
    """The watcher forks the child, tells its number, waits, tells its end. Returns in the child."""
    *streams, answer = descriptors
    child = os.fork()
    if child:
        for stream in streams:
            os.close(stream)
        os.write(answer, f"{child}\n".encode())
        _, status, used = os.wait4(child, 0)
        os.write(answer, f"{status} {used.ru_utime + used.ru_stime:.3f}\n".encode())
        os._exit(0)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, max(descriptors) + 1)
    folder, arguments, environment = request["folder"], request["arguments"], request["environment"]
    assert isinstance(folder, str)
    assert isinstance(arguments, list)
    assert isinstance(environment, dict)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[0] = folder
    sys.argv = [MODULE, *arguments]


def _import_commands() -> None:
    from score_embed.cli.commands import COMMANDS, load

    for command in COMMANDS:
        load(command)
    gc.freeze()


if __name__ == "__main__":
    _import_commands()
    serve(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_module(MODULE, run_name="__main__", alter_sys=True)
