"""Runs somebody else's command to its end: a compiler, a flasher. What it has started ends with it.

A compiler's driver starts others, which go on for minutes if only the driver is killed. So a command has a process
group of its own, and when its deadline passes, Ctrl-C breaks the wait off, or it puts out more than anybody can want (a
few lines of C can mean gigabytes), all of the group is ended: asked first, since gcc removes its temporary files then.

Ctrl-C that comes while a process is started is held back until there is somebody who knows of the process. While a
thread is started it is held back, too: `threading` takes locks in functions of Python's, where an exception between the
lock and its `with` leaves the lock taken for ever, and who asks for it next waits without end.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

_MOST = 256 << 20  # bytes of output
_MOST_ERRORS = 1 << 20  # bytes of complaints
_GRACE = 2.0  # seconds to end
_PAUSE = 0.01
_RUNNING: set[subprocess.Popen[bytes]] = set()  # called by any thread
_ENDS: list[None] = []  # as many as there were calls of `end_all`
_WORK = threading.local()  # `ends`: so many there were when the thread got its work
T = TypeVar("T")


def run_command(
    command: Sequence[str],
    deadline: float,
    *,
    merged: bool = False,
    most: int = _MOST,
    scratch: bool = True,
    folder: Path | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """What it puts out, and its exit code. `deadline` is in seconds; `merged`: its errors stand in its output; `most`:
    bytes of output; if there is one more, it was ended. `scratch`: its temporary files go with it. `folder`: where it
    works.

    Raises OSError if it cannot be started, subprocess.TimeoutExpired.
    """
    late = threading.Event()
    complaints = bytearray()
    errors = subprocess.STDOUT if merged else subprocess.PIPE
    ends = _ends_before()
    with contextlib.ExitStack() as stack:
        environment = stack.enter_context(_scratch()) if scratch else None
        with held():
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                process_group=0,
                env=environment,
                cwd=folder,
            )
            stack.enter_context(process)
            stack.callback(_leave, process)
            _RUNNING.add(process)

        def stop() -> None:
            late.set()
            _end(process)

        watch = Timer(deadline, stop)
        watch.daemon = True
        reader = Thread(target=_read, args=(process.stderr, complaints), daemon=True)
        try:
            if len(_ENDS) > ends:  # before it was known
                _end(process)
            watch.start()
            reader.start()
            assert process.stdout is not None
            output = process.stdout.read(most + 1)
            if len(output) <= most:
                process.wait()
        finally:
            watch.cancel()
            _end(process)
            if reader.ident is not None:
                reader.join(_GRACE)  # longer only if somebody has left the group, and holds the pipe
    if late.is_set():
        raise subprocess.TimeoutExpired(process.args, deadline)
    return subprocess.CompletedProcess(process.args, process.returncode, output, bytes(complaints))


@contextlib.contextmanager
def held() -> Iterator[None]:
    """A signal that comes meanwhile comes at the end: not between a process and the one who would end it, nor in the
    copy of this process that `fork` makes, where what it raises is an error."""
    came: list[int] = []
    before: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        before = {number: handler for number, handler in handlers.items() if callable(handler)}
    try:
        for number in before:
            signal.signal(number, lambda number, _frame: came.append(number))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for each in came:
            signal.raise_signal(each)


def _read(stream: IO[bytes] | None, complaints: bytearray) -> None:
    """All of it, of which the beginning is kept."""
    with contextlib.suppress(OSError, ValueError):  # it was closed meanwhile
        while stream is not None and (piece := os.read(stream.fileno(), 1 << 16)):
            if len(complaints) < _MOST_ERRORS:
                complaints += piece


class Thread(threading.Thread):
    """One that Ctrl-C does not keep from starting when it has begun to."""

    def start(self) -> None:
        with held():
            super().start()


class Timer(Thread, threading.Timer):
    def cancel(self) -> None:
        with held():
            super().cancel()


class Task(Generic[T]):
    """What a thread does."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work, self._done = work, threading.Lock()
        self._done.acquire()
        self._result: T | None = None
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._result = self._work()
        except BaseException as error:
            self._error = error
        self._done.release()

    def result(self) -> T:
        """Waits for it. Raises what it has raised."""
        with self._done:  # a lock can be waited for in one step
            pass
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value]


class Workers:
    """Threads that run commands, as many as there are processors. (To import `concurrent.futures` takes 5 ms.)"""

    def __init__(self, most: int = 0) -> None:
        self._most = most or os.cpu_count() or 1
        self._lock = threading.Lock()
        self._waiting: deque[tuple[Task[Any], int]] = deque()
        self._threads: list[Thread] = []
        self._busy = 0  # threads that look for more when they are done

    def begin(self, work: Callable[[], T]) -> Task[T]:
        """As soon as a thread is free."""
        task = Task(work)
        with self._lock:
            self._waiting.append((task, _ends_before()))
            if self._busy == self._most:
                return task
            self._busy += 1
        self._threads.append(Thread(target=self._work))
        self._threads[-1].start()
        return task

    def map(self, work: Callable[..., T], *items: Iterable[Any]) -> Iterator[T]:
        """All of it is begun now; the results come in this order."""
        tasks = [self.begin(functools.partial(work, *each)) for each in zip(*items, strict=False)]
        return (task.result() for task in tasks)

    def drop(self) -> None:
        """Nothing more is begun."""
        with self._lock:
            self._waiting.clear()

    def close(self) -> None:
        """Wait until all that was begun is done."""
        for thread in self._threads:
            if thread.ident is not None:  # else Ctrl-C came before it was started
                thread.join()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._busy -= 1
                    return
                task, _WORK.ends = self._waiting.popleft()
            task.run()


@contextlib.contextmanager
def workers() -> Iterator[Workers]:
    """Ctrl-C comes to the main thread only: then what the others run is ended, too."""
    pool = Workers()
    try:
        yield pool
    except KeyboardInterrupt:
        pool.drop()
        end_all()
        raise
    except BaseException:
        pool.drop()  # nobody asks for it any more
        raise
    finally:
        pool.close()


def end_all() -> None:
    """End what any thread runs."""
    _ENDS.append(None)
    for process in tuple(_RUNNING):
        _end(process)


@contextlib.contextmanager
def _scratch() -> Iterator[dict[str, str]]:
    """An environment with a folder for temporary files: gcc leaves some when it is told to end."""
    with tempfile.TemporaryDirectory(prefix="score-embed-", ignore_cleanup_errors=True) as folder:
        yield {**os.environ, "TMPDIR": folder}


def _ends_before() -> int:
    """As many as there were when the work was given that this thread does."""
    return int(getattr(_WORK, "ends", len(_ENDS)))


def _leave(process: subprocess.Popen[bytes]) -> None:
    _end(process)
    _RUNNING.discard(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """While nobody has waited for it, its number is still its own, and its group's."""
    if process.returncode is not None:
        return
    until = time.monotonic() + _GRACE
    how = os.WEXITED | os.WNOHANG | os.WNOWAIT
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.killpg(process.pid, signal.SIGTERM)
        while time.monotonic() < until and os.waitid(os.P_PID, process.pid, how) is None:
            time.sleep(_PAUSE)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
