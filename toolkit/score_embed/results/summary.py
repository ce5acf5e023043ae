"""summary.json: the totals of a campaign under fixed keys, for scripts and for `--json`.

The keys are a contract with the user's tools: add, never rename, and raise `v` when a meaning changes.
"""

from __future__ import annotations

import json
import resource
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FILE = "summary.json"
LAYERS = ("domain", "equality", "model", "enumerate", "cache", "smt")


def host_rss() -> int:
    """The largest resident size of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def make(
    *,
    program: str,
    board: str,
    strategy: str,
    seed: int,
    stopped: str,
    seconds: float,
    totals: Mapping[str, int],
    conditions: tuple[float, int],
    solver: Mapping[str, Any],
    coverage: tuple[int, int],
    bugs: list[dict[str, Any]],
    unflipped: list[dict[str, Any]],
    incomplete: list[dict[str, Any]],
    link: Mapping[str, int],
    target_memory: int,
) -> dict[str, Any]:
    """The summary as plain values; `totals` holds the six counts from runs to concretized."""
    return {
        "v": 1,
        "program": program,
        "board": board,
        "strategy": strategy,
        "seed": seed,
        "stopped": stopped,
        "seconds": round(seconds, 3),
        "runs": totals["runs"],
        "paths": totals["paths"],
        "redundant": totals["redundant"],
        "mispredicted": totals["mispredicted"],
        "divergences": totals["divergences"],
        "concretized": totals["concretized"],
        "conditions": {"mean": round(conditions[0], 2), "max": conditions[1]},
        "solver": {
            "sat": solver["sat"],
            "unsat": solver["unsat"],
            "unknown": solver["unknown"],
            "seconds": round(solver["seconds"], 3),
            "by": {layer: solver["by"].get(layer, 0) for layer in LAYERS},
        },
        "coverage": {"branches_total": coverage[0], "branches_covered": coverage[1]},
        "bugs": bugs,
        "unflipped": unflipped,
        "incomplete": incomplete,
        "link": {key: link.get(key, 0) for key in ("bytes_in", "bytes_out", "crc_errors", "reruns")},
        "memory": {"host_rss": host_rss(), "target": target_memory},
        "fleet": {},
    }


def write(summary: Mapping[str, Any], folder: Path) -> None:
    """Replace the file as a whole: a reader never sees half of it."""
    fresh = folder / (FILE + ".new")
    fresh.write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    fresh.replace(folder / FILE)
