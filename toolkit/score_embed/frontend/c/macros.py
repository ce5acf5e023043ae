"""What a file's macros make of C that stands elsewhere: a hint says `len <= MAX_FRAME`, as its author's code does.

A harness is put behind the preprocessed text of a file, where no macro is left. So the compiler's preprocessor reads
the file for its macros only (`-imacros`) and puts out what they make of each text.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from score_embed.command import run_command

_DEADLINE = 30  # seconds
_MOST = 1 << 20  # bytes of output
_NULL = "#ifndef NULL\n#define NULL ((void *) 0)\n#endif"
_MARK = "__score_text_"
_LINE = re.compile(rf"{_MARK}(\d+) (.*)")
_BLANK = re.compile(r"\s+")
_WORD = re.compile(r"[A-Za-z_]\w*")


def expanded(cc: str, flags: Sequence[str], source: Path, texts: Iterable[str]) -> dict[str, str]:
    """Each text that has macros without them: those that hold at the end of `source`, and NULL. What the preprocessor
    cannot read stays as it is: then it is no C, or the file is none, and somebody else says so."""
    wanted = [text for text in dict.fromkeys(texts) if _WORD.search(text)]
    if not wanted:
        return {}
    lines = [f"{_MARK}{number} {_BLANK.sub(' ', text)}" for number, text in enumerate(wanted)]
    with tempfile.TemporaryDirectory(prefix="score-embed-") as folder:
        path = Path(folder) / "texts.c"
        path.write_text("\n".join([_NULL, *lines, ""]), encoding="utf-8", errors="surrogateescape")
        command = [cc, "-E", "-P", "-w", *flags, "-DSCORE_EMBED=1", "-imacros", str(source), str(path)]
        try:
            done = run_command(command, _DEADLINE, most=_MOST)
        except (OSError, subprocess.TimeoutExpired):
            return {}
    if done.returncode or len(done.stdout) > _MOST:
        return {}
    put_out = done.stdout.decode("utf-8", "surrogateescape").splitlines()
    found = {int(match[1]): match[2].strip() for line in put_out if (match := _LINE.fullmatch(line))}
    return {text: made for number, text in enumerate(wanted) if (made := found.get(number)) and _differ(text, made)}


def _differ(text: str, made: str) -> bool:
    """The preprocessor may put other blanks between words."""
    return _BLANK.sub("", text) != _BLANK.sub("", made)
