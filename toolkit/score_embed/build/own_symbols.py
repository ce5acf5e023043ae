"""Symbols of the program's that begin as the runtime's do, in files without probes: they get the prefix that the front-end
gives to such names in files with probes (frontend/own_names.py)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from score_embed.build.toolchain import Toolchain
from score_embed.frontend.own_names import emitted
from score_embed.frontend.sites import OWN


def set_apart(toolchain: Toolchain, files: Sequence[Path], work: Path) -> dict[Path, Path]:
    """The files to link instead of these; copies are put into `work`. Raises BuildError."""
    found: dict[Path, Path] = {}
    for number, path in enumerate(files):
        defined, taken = toolchain.symbols([path])
        renamed = {name: emitted(name) for name in sorted(defined | taken) if emitted(name) != name}
        found[path] = work / f"apart{number}{path.suffix}" if renamed else path
        if renamed:
            toolchain.rename(renamed, path, found[path])
    return found


def given_back(toolchain: Toolchain, files: Sequence[Path], runtime: Sequence[Path]) -> dict[str, str]:
    """New names for symbols that no file of the program's defines: libraries may, under the names that were written.
    Those of the runtime's stay apart."""
    defined, taken = toolchain.symbols(files) if files else (set(), set())
    missing = {name: name.removeprefix(OWN) for name in sorted(taken - defined) if name.startswith(f"{OWN}sc_")}
    if not missing:
        return {}
    ours = toolchain.defined(runtime)
    return {name: written for name, written in missing.items() if written not in ours}
