"""Run the board compiler's preprocessor: the board's real headers decide what the program is.

Linemarkers stay in the output: parse.py takes positions and system headers from them.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from score_embed.errors import BuildError, UsageError

_DEADLINE = 120  # seconds; if it takes longer, it hangs on something (a network file system, a fifo)
_ERROR = re.compile(r"^(?P<where>.+?:\d+(?::\d+)?): (?:fatal )?error: (?P<what>.+)$", re.MULTILINE)


def preprocess(cc: str, flags: Sequence[str], source: Path) -> str:
    """The text of `cc -E flags source`. Raises BuildError with the compiler's first error, or UsageError."""
    if not source.is_file():
        raise UsageError("no such source file", str(source), "The path is relative to the current folder.")
    # SCORE_EMBED: `score.h` then declares the probes' side of its macros.
    command = [cc, "-E", *flags, "-DSCORE_EMBED=1", str(source)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_DEADLINE, check=False)
    except FileNotFoundError:
        raise UsageError(
            f"the compiler '{cc}' is not installed", hint="Install the toolchain of the board's profile."
        ) from None
    except OSError as error:
        raise UsageError(f"cannot run the compiler '{cc}': {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise BuildError(f"the preprocessor did not finish within {_DEADLINE} s", str(source)) from None
    if done.returncode != 0:
        raise _compiler_error(done.stderr.decode(errors="replace"), source)
    return done.stdout.decode(errors="surrogateescape")


def _compiler_error(stderr: str, source: Path) -> BuildError:
    found = _ERROR.search(stderr)
    if found:
        hint = "Add the header's folder with -I." if "No such file" in found["what"] else ""
        return BuildError(found["what"], found["where"], hint)
    lines = [line for line in stderr.splitlines() if line.strip()]
    return BuildError(lines[0] if lines else "the preprocessor failed without a message", str(source))
