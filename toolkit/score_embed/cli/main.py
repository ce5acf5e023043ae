"""Entry of the command `score-embed`: Ctrl-C ends it with one word and exit code 130, from its first moment to its
last.

Until the command begins (its modules are imported, its words are read) nothing has been made: the process just ends.
From then on Ctrl-C is an exception, so that what was made is taken away. Where Python has to swallow an exception (a
callback, the end of an object) it comes again a moment later. At the end nothing is left to do. Nothing is imported
above but what takes no time: before this module runs, Ctrl-C is Python's, which prints where it was.

Python looks for garbage while modules are imported, which make none, and again before it ends, when all goes anyway:
together that takes longer than all else that a small campaign does at its end. So it is told not to.
"""

from __future__ import annotations

import gc
import os
import signal
import sys

TYPE_CHECKING = False  # as in `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from sys import UnraisableHookArgs
    from types import FrameType

INTERRUPTED = 130
_AGAIN = 0.01  # seconds until a Ctrl-C comes again that was swallowed


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Without arguments it is what this process was started for."""
    if arguments is not None:
        return _run(arguments, lambda: None)
    gc.disable()
    try:
        return _main()
    finally:
        gc.freeze()


def _main() -> int:
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return _run(sys.argv[1:], _begin)  # whoever started it keeps Ctrl-C from it: `nohup`, `&` of a script
    signal.signal(signal.SIGINT, _leave)
    sys.unraisablehook = _swallowed
    try:
        return _run(sys.argv[1:], _begin_to_raise)
    except KeyboardInterrupt:  # one more, while the first was told
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        # Python notes a KeyboardInterrupt that leaves an `exec` of text, as dataclasses do while they are imported, and
        # kills itself at its end although it was caught. The next such text takes the note back.
        eval("0")


def _run(arguments: Sequence[str], begin: Callable[[], None]) -> int:
    from score_embed.cli import commands  # takes a tenth of a second, in which somebody may press Ctrl-C

    return commands.run(arguments, begin)


def _begin() -> None:
    """The command's modules are there, for as long as it runs."""
    gc.freeze()
    gc.enable()


def _begin_to_raise() -> None:
    _begin()
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(_number: int, _frame: FrameType | None) -> None:
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)


def _once_more() -> None:
    if signal.getsignal(signal.SIGINT) is not signal.SIG_DFL:  # else the command has ended: it was heard
        signal.raise_signal(signal.SIGINT)


def _swallowed(said: UnraisableHookArgs) -> None:
    if issubclass(said.exc_type, KeyboardInterrupt):
        from score_embed.command import Timer

        again = Timer(_AGAIN, _once_more)
        again.daemon = True
        again.start()
    elif not _is_half_made(said):
        sys.__unraisablehook__(said)


def _is_half_made(said: UnraisableHookArgs) -> bool:
    """Z3 was making an object when Ctrl-C came, and its end does not find what was not made."""
    return issubclass(said.exc_type, AttributeError) and getattr(said.object, "__module__", "") == "z3.z3"


if __name__ == "__main__":
    sys.exit(main())
