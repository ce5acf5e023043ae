"""A terminal session as asciinema's cast (version 2), and a cast as an SVG that moves.

A session is commands that are really run, in a terminal of their own; only the typing is made up. The SVG has every
picture of the screen below the other and shows one at a time, by styles alone: where scripts are not allowed (in a
README) it moves, too. Who asks for less motion sees the last picture.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import struct
import termios
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import pyte

PROMPT = "\x1b[32m$\x1b[0m "
KEY = 0.035  # seconds for a key …
READ = 1.6  # … and to read what a command said
_DEADLINE = 120.0  # seconds for a command
_LAST = 5.0  # seconds of the last picture
_APART = 0.08  # seconds: pictures that are nearer are one
_CELL, _LINE, _EDGE = 8.0, 18, 14  # pixels
_BACK, _TEXT = "#171c24", "#d7dde6"
_COLOURS = {"green": "#6fd39a", "red": "#ff938f", "brown": "#f0be62", "cyan": "#6fd2e8", "blue": "#83b7ff"}

Event = tuple[float, str]


@dataclass(frozen=True)
class Cast:
    """`events`: seconds from the start, and what came then."""

    width: int
    height: int
    events: Sequence[Event]

    def text(self) -> str:
        head = {"version": 2, "width": self.width, "height": self.height, "env": {"TERM": "xterm-256color"}}
        lines = [head, *([round(at, 3), "o", said] for at, said in self.events)]
        return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)

    @staticmethod
    def of(text: str) -> Cast:
        head, *events = map(json.loads, text.splitlines())
        if head["version"] != 2:
            raise ValueError(f"a cast of version {head['version']}, not 2")
        return Cast(head["width"], head["height"], [(at, said) for at, kind, said in events if kind == "o"])


def record(commands: Sequence[str], folder: Path, width: int, height: int) -> Cast:
    """Run commands of a shell in `folder`. Raises TimeoutError if one goes on for too long."""
    events: list[Event] = []
    now = 0.5
    for command in commands:
        events.append((now, PROMPT))
        for key in command:
            now += KEY
            events.append((now, key))
        now += 10 * KEY
        events.append((now, "\r\n"))
        said = list(_said(command, folder, width, height))
        events += [(now + at, text) for at, text in said]
        now += READ + max((at for at, _ in said), default=0.0)
    return Cast(width, height, [*events, (now, PROMPT)])


def _said(command: str, folder: Path, width: int, height: int) -> Iterator[Event]:
    """What a command writes to its terminal, and when."""
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        os.chdir(folder)
        environ = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        os.execvpe("sh", ["sh", "-c", command], environ | {"TERM": "xterm-256color"})
    began, rest = time.monotonic(), b""
    try:
        while True:
            ready, _, _ = select.select([terminal], [], [], _DEADLINE)
            if not ready:
                raise TimeoutError(f"nothing came for {_DEADLINE:.0f} s: {command}")
            try:
                data = os.read(terminal, 1 << 16)
            except OSError:  # all of the terminal's other side is closed
                return
            if not data:
                return
            rest += data
            text = rest.decode("utf-8", "ignore")  # but for a character that is not whole yet
            rest = rest[len(text.encode()) :]
            yield time.monotonic() - began, text
    finally:
        os.close(terminal)
        os.waitpid(child, 0)


# As a picture that moves ---------------------------------------------------------------------------------------------

Run = tuple[int, str, str, bool]  # first column, text, colour, bold
Picture = tuple[tuple[Run, ...], ...]  # by line


def svg(cast: Cast) -> str:
    """The same cast gives the same text. Lines that several pictures have are in it once."""
    pictures = _pictures(cast)
    wide, high = 2 * _EDGE + cast.width * _CELL, 2 * _EDGE + cast.height * _LINE
    whole = pictures[-1][0] + _LAST
    numbers: dict[tuple[Run, ...], int] = {}
    for _, lines in pictures:
        for line in lines:
            if line:
                numbers.setdefault(line, len(numbers))
    steps = "".join(
        f"{100 * at / whole:.3f}%{{transform:translateY(-{n * high}px)}}" for n, (at, _) in enumerate(pictures)
    )
    last = (len(pictures) - 1) * high
    shown = "".join(
        f'<g transform="translate(0 {n * high})">'
        + "".join(f'<use href="#l{numbers[line]}" y="{y * _LINE}"/>' for y, line in enumerate(lines) if line)
        + "</g>\n"
        for n, (_, lines) in enumerate(pictures)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {high}" width="{wide:.0f}" height="{high}" '
        'role="img" aria-label="A terminal session">\n'
        f"<style>text{{font:14px ui-monospace,'Cascadia Code',Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:{_TEXT};"
        "white-space:pre}.b{font-weight:700}"
        f"#film{{animation:play {whole:.2f}s step-end infinite}}@keyframes play{{{steps}}}"
        f"@media(prefers-reduced-motion:reduce){{#film{{animation:none;transform:translateY(-{last}px)}}}}</style>\n"
        f'<rect width="100%" height="100%" rx="8" fill="{_BACK}"/>\n<defs>\n{_defined(numbers)}</defs>\n'
        f'<svg y="{_EDGE}" height="{high - 2 * _EDGE}"><g id="film">\n{shown}</g></svg>\n</svg>\n'
    )


def _defined(numbers: dict[tuple[Run, ...], int]) -> str:
    return "".join(f'<g id="l{number}">{"".join(map(_text, line))}</g>\n' for line, number in numbers.items())


def _text(run: Run) -> str:
    """At its column, and as wide as its cells: fonts differ."""
    column, text, colour, is_bold = run
    fill = f' fill="{_COLOURS[colour]}" style="fill:{_COLOURS[colour]}"' if colour in _COLOURS else ""
    bold = ' class="b"' if is_bold else ""
    place = f'x="{_EDGE + column * _CELL:g}" y="{_LINE - 5}" textLength="{len(text) * _CELL:g}"'
    return f'<text {place} lengthAdjust="spacingAndGlyphs"{fill}{bold}>{escape(text)}</text>'


def _pictures(cast: Cast) -> list[tuple[float, Picture]]:
    """When the screen changed, and to what."""
    screen = pyte.Screen(cast.width, cast.height)
    stream = pyte.Stream(screen)
    found: list[tuple[float, Picture]] = [(0.0, _picture(screen))]
    for at, said in cast.events:
        stream.feed(said)
        now = _picture(screen)
        if now != found[-1][1]:
            if at - found[-1][0] < _APART and len(found) > 1:
                found[-1] = (found[-1][0], now)
            else:
                found.append((at, now))
    return found


def _picture(screen: pyte.Screen) -> Picture:
    return tuple(tuple(_runs(screen, y)) for y in range(screen.lines))


def _runs(screen: pyte.Screen, y: int) -> Iterator[Run]:
    """Neighbours that look the same, without the blanks around them. Boxes are one by one, so that they meet."""
    column, text, look = 0, "", ("", False)
    for x in range(screen.columns + 1):
        cell = screen.buffer[y][x] if x < screen.columns else None
        now = (cell.fg, cell.bold) if cell is not None else ("", False)
        if cell is None or now != look:
            if text.strip():
                yield column + len(text) - len(text.lstrip()), text.strip(), *look
            column, text, look = x, "", now
        text += cell.data if cell is not None else ""
