"""Branch coverage as an lcov tracefile, for genhtml, editors and coverage services.

It says what the campaign knows and nothing else: which directions were taken. How often is not known, so a count is
1 or 0, and only lines with branches have a line record. Functions are left out: an entered function without a branch
leaves no trace.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from score_embed.errors import printable
from score_embed.report.findings import Findings


def tracefile(found: Findings) -> str:
    """The tracefile, one section for each source file that has branches."""
    by_file: dict[str, list[int]] = {}
    for index, direction in sorted(found.sources.directions.items()):
        if found.is_generated(direction.file):
            continue
        by_file.setdefault(str(found.absolute(direction.file)), []).append(index)
    name = re.sub(r"\W", "_", found.program.name, flags=re.ASCII)
    lines = [line for file, indices in sorted(by_file.items()) for line in _section(found, name, file, indices)]
    return "".join(line + "\n" for line in lines)


def _section(found: Findings, name: str, file: str, indices: list[int]) -> Iterator[str]:
    directions = found.sources.directions
    reached = {directions[index].site for index in indices if index in found.covered}
    reached_lines: dict[int, bool] = {}
    branches: list[tuple[int, int, int, str]] = []  # line, block, branch, taken
    blocks: dict[int, int] = {}  # branches are numbered within a file, so that inserted sources change no other's
    outcomes: dict[int, int] = {}
    for index in indices:
        site, line = directions[index].site, directions[index].line
        block = blocks.setdefault(site, len(blocks))
        outcome = outcomes[site] = outcomes.get(site, -1) + 1
        taken = "-" if site not in reached else "1" if index in found.covered else "0"
        branches.append((line, block, outcome, taken))
        reached_lines[line] = reached_lines.get(line, False) or site in reached
    yield f"TN:{name}"
    yield f"SF:{printable(file)}"
    for line, block, outcome, taken in sorted(branches):
        yield f"BRDA:{line},{block},{outcome},{taken}"
    yield f"BRF:{len(branches)}"
    yield f"BRH:{sum(taken == '1' for *_, taken in branches)}"
    for line, hit in sorted(reached_lines.items()):
        yield f"DA:{line},{int(hit)}"
    yield f"LF:{len(reached_lines)}"
    yield f"LH:{sum(reached_lines.values())}"
    yield "end_of_record"
