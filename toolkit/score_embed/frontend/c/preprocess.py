"""Run the board compiler's preprocessor: the board's real headers decide what the program is.

Linemarkers stay in the output: parse.py takes positions and system headers from them.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from score_embed.command import run_command
from score_embed.errors import Unbounded, UsageError
from score_embed.frontend.c.complaints import complaint

_DEADLINE = 30  # seconds; if it takes longer, it hangs on something (a network file system, a fifo)
_MOST = 24 << 20  # bytes of its output: what the front-end reads in some minutes


def preprocess(cc: str, flags: Sequence[str], source: Path) -> str:
    """The text of `cc -E flags source`. Raises BuildError with the compiler's errors, or UsageError."""
    if not source.is_file():
        raise UsageError("no such source file", str(source), "The path is relative to the current folder.")
    # SCORE_EMBED: `score.h` then declares the probes' side of its macros.
    command = [cc, "-E", *flags, "-DSCORE_EMBED=1", str(source)]
    try:
        done = run_command(command, _DEADLINE, most=_MOST)
    except FileNotFoundError:
        raise UsageError(
            f"the compiler '{cc}' is not installed", hint="Install the toolchain of the board's profile."
        ) from None
    except OSError as error:
        raise UsageError(f"cannot run the compiler '{cc}': {error.strerror}") from None
    except subprocess.TimeoutExpired:
        what = f"the preprocessor did not finish within {_DEADLINE} s"
        raise Unbounded(what, str(source), "Does it include a device, a pipe, or a file on a slow disk?") from None
    if len(done.stdout) > _MOST:
        what = f"the preprocessor makes more than {_MOST >> 20} MiB of it"
        raise Unbounded(what, str(source), "Split it, or give it by `--native FILE`: without probes.")
    if done.returncode:
        raise complaint(done.stderr.decode(errors="replace"), str(source))
    return done.stdout.decode(errors="surrogateescape")
