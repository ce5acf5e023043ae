"""The contract's numbers and words for C and C++: `runtime/contract.h`, and the engine's `contract.hpp`.

The modules of this package are their only source. `python -m score_embed.contract.header` writes both
files; a test checks that the committed ones are current.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from enum import IntEnum, IntFlag
from pathlib import Path

from score_embed.contract import descriptors, wire
from score_embed.contract.outcome import Verdict
from score_embed.contract.sites import Op, Place, SelectFlag, SiteKind
from score_embed.contract.words import Note

COMMAND = "python -m score_embed.contract.header"


def _defined() -> list[tuple[str, str, str]]:
    """Name, value and comment of what is no enumeration."""
    start, factors = descriptors.HASH_START, descriptors.HASH_FACTORS
    return [
        ("WIRE_VERSION", f"{wire.WIRE_VERSION}u", ""),
        ("MAX_OUTPUT", f"{wire.MAX_OUTPUT}u", "bytes of the program's own output that are kept of one test"),
        ("RUN_SIZE", f"{wire.MAX_RUN_HEAD}u", "most bytes of a RUN before the input"),
        ("MAX_LEAVES", str(descriptors.MAX_LEAVES), "of one site: two mask bits each in one 64-bit varint"),
        ("MAX_ARGUMENTS", str(descriptors.MAX_ARGUMENTS), "scalar arguments whose taint is passed"),
        ("MAX_STRUCTS", str(descriptors.MAX_STRUCTS), "struct arguments of one call whose taint is passed"),
        ("STACK_SITES", str(descriptors.STACK_SITES), "enter sites that are told of a bug"),
        ("MOST_VARIABLE", f"{descriptors.MOST_VARIABLE}u", "bytes of an object that can change and is read as a whole"),
        ("FLOATS", f"{descriptors.FLOATS:#x}u", "in a number of leaves: they may be floating-point numbers"),
        ("MODEL_TABLE", f"{descriptors.MODEL_TABLE:#x}u", "in a table: of a model of the C library"),
        ("HASH_START", "{" + ", ".join(f"{lane:#x}u" for lane in start) + "}", ""),
        ("HASH_FACTOR_A", f"{factors[0]:#x}u", ""),
        ("HASH_FACTOR_B", f"{factors[1]:#x}u", ""),
    ]


def _enumerations() -> list[tuple[str, Iterable[tuple[str, int]]]]:
    """Prefix of the names, names and values."""
    kinds: list[tuple[str, type[IntEnum | IntFlag]]] = [
        ("TYPE", wire.Type),
        ("RUN", wire.RunFlag),
        ("END", wire.EndFlag),
        ("CAN", wire.Capability),
        ("LEAF", Place),
        ("EVENT", descriptors.Reserved),
        ("OPAQUE", descriptors.OpaqueCall),
        ("RELATION", descriptors.Relation),
        ("RELATION", descriptors.RelationFlag),
        ("ARGUMENT", descriptors.Unsized),
    ]
    verdicts = [(verdict.name, number) for number, verdict in enumerate(wire.VERDICTS)]
    return [
        *((prefix, [(each.name or "", each.value) for each in kind]) for prefix, kind in kinds),
        ("VERDICT", verdicts),
    ]


def header() -> str:
    """runtime/contract.h."""
    lines = [
        f"/* What host, front-end and target agree on. Generated: {COMMAND} */",
        "#ifndef SC_CONTRACT_H",
        "#define SC_CONTRACT_H",
        "",
    ]
    for name, value, comment in _defined():
        lines.append(f"#define SC_{name} {value}" + (f" /* {comment} */" if comment else ""))
    for prefix, names in _enumerations():
        lines += ["", "enum {", *(f"    SC_{prefix}_{name} = {value}," for name, value in names), "};"]
    return "\n".join([*lines, "", "#endif", ""])


def engine_header() -> str:
    """toolkit/engine/src/contract.hpp."""
    start, factors = descriptors.HASH_START, descriptors.HASH_FACTORS
    lines = [
        f"// What contract/ says and the engine has to know. Generated: {COMMAND}",
        "#pragma once",
        "",
        '#include "word.hpp"',
        "",
        "namespace score {",
        "",
        f"constexpr u32 HASH_START[2] = {{{start[0]:#x}, {start[1]:#x}}}, "
        f"HASH_FACTORS[2] = {{{factors[0]:#x}, {factors[1]:#x}}};",
        f"constexpr unsigned WIRE_VERSION = {wire.WIRE_VERSION}, VERDICTS = {len(wire.VERDICTS)},",
        f"                   WATCHDOG = {wire.VERDICTS.index(Verdict.WATCHDOG)};",
    ]
    kinds: list[type[IntEnum]] = [SiteKind, Place, Op, descriptors.Reserved, wire.Type]
    for kind in kinds:
        lines += ["", f"enum class {kind.__name__} : u8 {{", *(f"    {one.name} = {one.value}," for one in kind), "};"]
    flags: list[tuple[str, type[IntEnum]]] = [
        ("run_flag", wire.RunFlag),
        ("end_flag", wire.EndFlag),
        ("capability", wire.Capability),
        ("select_flag", SelectFlag),
    ]
    for name, kind in flags:
        said = (f"constexpr unsigned {one.name} = {one.value};" for one in kind)
        lines += ["", f"namespace {name} {{", *said, "}"]
    # Texts with places for what only the run knows are the host's in Python.
    notes = (f"constexpr const char *{note.name} = {json.dumps(note.value)};" for note in Note if "{" not in note)
    lines += ["", "namespace notes {", *notes, "}"]
    return "\n".join([*lines, "", "}  // namespace score", ""])


if __name__ == "__main__":
    root = Path(__file__).resolve().parents[3]
    (root / "runtime" / "contract.h").write_text(header(), encoding="utf-8")
    (root / "toolkit" / "engine" / "src" / "contract.hpp").write_text(engine_header(), encoding="utf-8")
