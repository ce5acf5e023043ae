"""Names of the program's that begin as ours do: `sc_`, `SC_`.

Instrumented C declares the probes with their types and macros, and the linker sees the runtime's symbols. A program may
use the same names (a smart card's driver has `sc_lock`, `SC_NONE`). So each identifier of the program's that begins so gets
a prefix before the file is parsed, and its symbols in files without probes get it before the link (image/linking.py).
What users read has the names as they wrote them (`sites.shown`).
"""

from __future__ import annotations

import re

from score_embed.contract.sites import OWN

# Texts and characters are passed over, but for the names of symbols that attributes take.
_TOKEN = re.compile(
    r"""(?P<before>\b(?:alias|weakref|__alias__|__weakref__)\s*\(\s*")(?P<symbol>sc_[^"\n]*")"""
    r"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^[ \t]*\#[^\n]*|(?<![\w$])(?P<name>(?:sc|SC)_[\w$]*)""",
    re.MULTILINE,
)
_SUSPECT = re.compile(r"\b(?:sc|SC)_")
_PREFIXED = re.compile(rf"\b{OWN}(?=sc_|SC_)")


def set_apart(text: str) -> str:
    """A preprocessed file in which no identifier is one of ours."""
    return _TOKEN.sub(_apart, text) if _SUSPECT.search(text) else text


def _apart(found: re.Match[str]) -> str:
    if found["symbol"]:
        return found["before"] + emitted(found["symbol"])
    return emitted(found["name"]) if found["name"] else found[0]


def emitted(name: str) -> str:
    """What an identifier of the program's is called in instrumented C."""
    return OWN + name if name.startswith(("sc_", "SC_")) else name


def as_written(text: str) -> str:
    """C in which the program's identifiers are its own again."""
    return _PREFIXED.sub("", text)
