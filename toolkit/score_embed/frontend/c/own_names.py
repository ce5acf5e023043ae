"""Names of the program's that begin as ours do: `sc_`, `SC_`.

Instrumented C declares the probes with their types and macros, and the linker sees the runtime's symbols. A program may
use the same names (a smart card's driver has `sc_lock`, `SC_NONE`). So each identifier of the program's that begins so
gets a prefix before the file is parsed, and its symbols in files without probes get it before the link
(image/linking.py). What users read has the names as they wrote them (`sites.shown`).
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
PRELUDE = """#include "probe.h"
typedef __UINTPTR_TYPE__ sc_word;
#define SC_LO(x) ((sc_word) ((sc_u64) (x) & 0xffffffffu))
#define SC_HI(x) ((sc_word) ((sc_u64) (x) >> 32))
#define SC_PART(type, x, shift) ((sc_word) ((type) (x) >> (shift)))
#define SC_TOUCH(p) ((void) *(const volatile char *) (p))
#define SC_STORED(bits, p) (((const struct { __INT##bits##_TYPE__ v; } __attribute__((packed, may_alias)) *) (p))->v)
#define sc_f (&sc_a.head)
#define sc_m sc_a.m
#define SC_SITES(n) static const sc_word sc_sites##n[] __attribute__((section(".sc_sites"), used))
"""
HANDLER = "SC_HANDLER"  # what an interrupt handler begins with


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
