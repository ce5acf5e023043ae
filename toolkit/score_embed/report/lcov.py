"""Coverage as an lcov tracefile, for genhtml, editors and coverage services.

It says what the campaign knows and nothing else: which directions were taken, and by a campaign that recorded vectors,
which conditions decided (MCDC records, which lcov 2.3 and later read, 1.16 passes over, and 2.0 and 2.2 refuse unless
they are told to ignore errors of format). How often is not known, so a count is 1 or 0, and only lines with branches
have a line record. Functions are left out: an entered function without a branch leaves no trace.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from score_embed.errors import printable
from score_embed.report import branches
from score_embed.report.branches import Decision
from score_embed.report.findings import Findings


def tracefile(found: Findings) -> str:
    """The tracefile, one section for each source file that has branches."""
    by_file: dict[str, list[int]] = {}
    for index, direction in sorted(found.sources.directions.items()):
        if found.is_generated(direction.file):
            continue
        by_file.setdefault(str(found.absolute(direction.file)), []).append(index)
    decided: dict[str, list[Decision]] = {}
    for decision in branches.decisions_of(found):
        decided.setdefault(str(found.absolute(decision.file)), []).append(decision)
    name = re.sub(r"\W", "_", found.program.name, flags=re.ASCII)
    lines = [
        line
        for file, indices in sorted(by_file.items())
        for line in _section(found, name, file, indices, decided.get(file, ()))
    ]
    return "".join(line + "\n" for line in lines)


def _section(
    found: Findings, name: str, file: str, indices: list[int], decided: Sequence[Decision]
) -> Iterator[str]:
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
    yield from _decisions(decided)
    for line, hit in sorted(reached_lines.items()):
        yield f"DA:{line},{int(hit)}"
    yield f"LF:{len(reached_lines)}"
    yield f"LH:{sum(reached_lines.values())}"
    yield "end_of_record"


def _decisions(decided: Sequence[Decision]) -> Iterator[str]:
    """The format tells decisions of a line by how many conditions they have. Of those that it cannot tell apart, a
    condition is covered if it is in each of them."""
    groups: dict[tuple[int, int], list[Decision]] = {}
    for decision in decided:
        if decision.conditions:
            groups.setdefault((decision.line, len(decision.conditions)), []).append(decision)
    hits = []
    for (line, size), same in sorted(groups.items()):
        for number in range(size):
            text = printable(" / ".join(dict.fromkeys(decision.conditions[number].text for decision in same)))
            for sense in (True, False):
                hits.append(not any(sense in decision.conditions[number].missing for decision in same))
                yield f"MCDC:{line},{size},{'t' if sense else 'f'},{int(hits[-1])},{number},{text}"
    if hits:
        yield f"MCF:{len(hits)}"
        yield f"MCH:{sum(hits)}"
