"""Run the board compiler's preprocessor: the board's real headers decide what the program is.

Linemarkers stay in the output: parse.py takes positions and system headers from them.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from score_embed.command import run_command
from score_embed.errors import BuildError, UsageError
from score_embed.frontend.c.complaints import complaint

_DEADLINE = 120  # seconds; if it takes longer, it hangs on something (a network file system, a fifo)


def preprocess(cc: str, flags: Sequence[str], source: Path) -> str:
    """The text of `cc -E flags source`. Raises BuildError with the compiler's errors, or UsageError."""
    if not source.is_file():
        raise UsageError("no such source file", str(source), "The path is relative to the current folder.")
    # SCORE_EMBED: `score.h` then declares the probes' side of its macros.
    command = [cc, "-E", *flags, "-DSCORE_EMBED=1", str(source)]
    try:
        done = run_command(command, _DEADLINE)
    except FileNotFoundError:
        raise UsageError(
            f"the compiler '{cc}' is not installed", hint="Install the toolchain of the board's profile."
        ) from None
    except OSError as error:
        raise UsageError(f"cannot run the compiler '{cc}': {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise BuildError(f"the preprocessor did not finish within {_DEADLINE} s", str(source)) from None
    if done.returncode != 0:
        raise complaint(done.stderr.decode(errors="replace"), str(source))
    return done.stdout.decode(errors="surrogateescape")
