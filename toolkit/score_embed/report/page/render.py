"""Templates to pages: one file, with its styles and its script in it, that asks nobody for anything.

All that a record holds may come from somebody else. So whatever a template puts out is escaped, and what a screen would
not show as it is (control characters, changes of direction) is written in words. Nothing of a record stands in a script
or a style; and the page itself allows no script but ours and no request to anybody.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

import jinja2
from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup

from score_embed import __version__, places

_FILES = Path(__file__).parent
_HARMLESS = "\t\n\u202f"  # as `count` has it
_LONG = 36  # characters of a file's name


def page(template: str, values: Mapping[str, object]) -> str:
    """The HTML text."""
    style, script = _file("style.css"), _file("page.js")
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        _environment()
        .get_template(template)
        .render(**values, style=Markup(style), script=Markup(script), allowed=allowed, version=__version__)
    )


def shown(value: object) -> object:
    """As a page shows it."""
    if not isinstance(value, str) or isinstance(value, Markup) or value.isprintable():
        return value
    return "".join(c if c.isprintable() or c in _HARMLESS else c.encode("unicode_escape").decode() for c in value)


class _Compiled(FileSystemBytecodeCache):
    """What templates were compiled to, for the next page: to compile them takes longer than a small campaign."""

    def get_source_checksum(self, source: str) -> str:
        """Also of what compiles them, and of how this module has it done."""
        how = (jinja2.__version__, Path(__file__).read_text(encoding="utf-8"))
        return super().get_source_checksum("\0".join((source, *how)))

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):  # then the next page takes longer
            super().dump_bytecode(bucket)


def _compiled() -> _Compiled | None:
    try:
        return _Compiled(str(places.cached("pages")))
    except OSError:
        return None


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_FILES),
        bytecode_cache=_compiled(),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"percent": percent, "count": count, "seconds": seconds, "size": size, "brief": brief}
    return made


def percent(part: int, whole: int) -> str:
    return f"{100 * part // whole} %" if whole else "–"


def count(number: int | float) -> str:
    """With thousands apart."""
    return f"{number:,}".replace(",", "\u202f")


def seconds(value: float) -> str:
    """In the unit that a person would use."""
    if value < 1:
        return f"{1000 * value:.0f} ms"
    if value < 120:
        return f"{value:.3g} s"
    if value < 7200:
        return f"{value / 60:.0f} min"
    return f"{value / 3600:.1f} h"


def brief(file: str) -> tuple[str, str]:
    """The last folders of a name, all of them if it is short, and the file's own name."""
    folder, slash, name = file.rpartition("/")
    return (folder + slash if len(file) <= _LONG else f"…/{folder.rpartition('/')[2]}/"), name


def size(value: int) -> str:
    for unit, bytes_ in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if value >= bytes_:
            return f"{value / bytes_:.1f} {unit}"
    return f"{value} bytes"


def _file(name: str) -> str:
    return (_FILES / name).read_text(encoding="utf-8")
