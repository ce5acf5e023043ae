"""One run of an experiment: a number of clients on one exploration, or as many campaigns that know nothing of each
other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import structs

from score_embed.results.coverage import Coverage
from score_embed.results.fleet import ClientFigures, FleetFigures
from score_embed.results.store import Store
from score_embed.results.summary import FILE


@dataclass(frozen=True, slots=True)
class Trial:
    """`paths`, `covered`: what was found by anybody."""

    clients: int
    seed: int
    is_distributed: bool
    tests: int
    paths: int  # distinct
    covered: int  # branch directions …
    directions: int  # … of so many
    seconds: float  # of the campaign that took longest
    workload: tuple[int, ...]  # tests of each client
    fleet: FleetFigures | None = None  # of a distributed one
    folders: tuple[Path, ...] = ()  # of its campaigns

    @property
    def useful(self) -> float:
        """The share of tests that are not redundant: each took a path of its own."""
        return self.paths / max(1, self.tests)

    @property
    def coverage(self) -> float:
        return self.covered / max(1, self.directions)


def distributed(folder: Path, clients: int, seed: int) -> Trial:
    """What a campaign in `folder` came to."""
    summary = _summary(folder)
    fleet = _with_late(FleetFigures.of(summary["fleet"]), clients) if summary["fleet"] else _alone(summary)
    work = tuple(client.tests for client in fleet.clients)
    return _trial([folder], [summary], clients, seed, work, fleet)


def independent(folders: Sequence[Path], seed: int) -> Trial:
    """What the campaigns in `folders` came to, put together."""
    summaries = [_summary(folder) for folder in folders]
    return _trial(folders, summaries, len(folders), seed, tuple(summary["runs"] for summary in summaries))


def _summary(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / FILE).read_text(encoding="utf-8"))
    return found


def _with_late(fleet: FleetFigures, clients: int) -> FleetFigures:
    """All clients, those too that came when nothing was left to do."""
    late = (ClientFigures(f"late {number}", 0, 0.0, 0.0) for number in range(len(fleet.clients), clients))
    return structs.replace(fleet, clients=(*fleet.clients, *late))


def _alone(summary: dict[str, Any]) -> FleetFigures:
    """A campaign of one client: nobody to talk to, nothing to wait for."""
    client = ClientFigures("alone", summary["runs"], summary["seconds"], summary["seconds"])
    return FleetFigures((client,), {}, summary["runs"], summary["redundant"], summary["seconds"])


def _trial(
    folders: Sequence[Path],
    summaries: list[dict[str, Any]],
    clients: int,
    seed: int,
    workload: tuple[int, ...],
    fleet: FleetFigures | None = None,
) -> Trial:
    paths: set[int] = set()
    covered: set[int] = set()
    for folder in folders:
        with Store.read(folder) as record:
            directions = Coverage(record.sources().directions, record.coverage())
            paths |= record.path_hashes()
            covered |= directions.covered
    tests = sum(summary["runs"] for summary in summaries)
    seconds = max(summary["seconds"] for summary in summaries)
    counted = (tests, len(paths), len(covered), directions.total, seconds)
    return Trial(clients, seed, fleet is not None, *counted, workload, fleet, tuple(folders))
