"""Run the board compiler's preprocessor: the board's real headers decide what the program is.

Linemarkers stay in the output: parse.py takes positions and system headers from them. But for those in the middle of a
line: gcc marks where each expansion of a system header's macro begins and ends, and puts blanks before what goes on, up
to its column. A table of 500 lines with `UINT16_MAX` in each of its fields becomes one of 20 MB so.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from score_embed.command import run_command
from score_embed.errors import Unbounded, UsageError
from score_embed.frontend.c.complaints import complaint

_DEADLINE = 30  # seconds; if it takes longer, it hangs on something (a network file system, a fifo)
_MOST = 24 << 20  # bytes: what the front-end reads in some minutes
_MOST_PUT_OUT = 4 * _MOST  # bytes, with the blanks and the linemarkers that go
_LINEMARKER = re.compile(r'# (\d+) "(.*)"([ \d]*)$')


def preprocess(cc: str, flags: Sequence[str], source: Path) -> str:
    """The text of `cc -E flags source`. Raises BuildError with the compiler's errors, or UsageError."""
    if not source.is_file():
        raise UsageError("no such source file", str(source), "The path is relative to the current folder.")
    # SCORE_EMBED: `score.h` then declares the probes' side of its macros.
    command = [cc, "-E", *flags, "-DSCORE_EMBED=1", str(source)]
    try:
        done = run_command(command, _DEADLINE, most=_MOST_PUT_OUT)
    except FileNotFoundError:
        raise UsageError(
            f"the compiler '{cc}' is not installed", hint="Install the toolchain of the board's profile."
        ) from None
    except OSError as error:
        raise UsageError(f"cannot run the compiler '{cc}': {error.strerror}") from None
    except subprocess.TimeoutExpired:
        what = f"the preprocessor did not finish within {_DEADLINE} s"
        raise Unbounded(what, str(source), "Does it include a device, a pipe, or a file on a slow disk?") from None
    text = whole_lines(done.stdout.decode(errors="surrogateescape")) if len(done.stdout) <= _MOST_PUT_OUT else None
    if text is None or len(text) > _MOST:
        what = f"the preprocessor makes more than {_MOST >> 20} MiB of it"
        raise Unbounded(what, str(source), "Split it, or give it by `--native FILE`: without probes.")
    if done.returncode:
        raise complaint(done.stderr.decode(errors="replace"), str(source))
    return text


def whole_lines(text: str) -> str:
    """The preprocessor's output without the linemarkers that stand in the middle of a line. Columns stay, as far as
    what a macro stands for is no longer than its name."""
    made: list[str] = []
    file, number, left_out = "", 0, ""  # `number`: of the last of `made`; `left_out`: the linemarker before this line
    for line in text.split("\n"):
        marker = _LINEMARKER.match(line) if line.startswith("# ") else None
        if marker:
            at, name, flags = marker.groups()
            # Flags 1 and 2: a header begins, or has ended.
            if name == file and int(at) == number and not {"1", "2"} & set(flags.split()) and made[-1][:1] != "#":
                left_out = line
                continue
            file, number, left_out = name, int(at) - 1, ""
        elif left_out and line[:1] != "#":
            begun, rest = made[-1].rstrip(), line.lstrip()
            # A blank, at least: `-MINUS_ONE` has no `--`.
            made[-1] = begun.ljust(max(len(begun) + 1, len(line) - len(rest))) + rest if begun else line
            left_out = ""
            continue
        else:
            if left_out:  # a pragma has a line of its own
                made.append(left_out)
                number, left_out = number - 1, ""
            number += 1
        made.append(line)
    return "\n".join(made)
