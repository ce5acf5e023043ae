"""One run of an experiment: a number of clients on one exploration, or as many campaigns that know nothing of each
other."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from msgspec import structs

from score_embed.errors import UsageError
from score_embed.results.coverage import Coverage
from score_embed.results.fleet import ClientFigures, FleetFigures
from score_embed.results.parts import FLEET, PROGRESS
from score_embed.results.store import Store


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
    """What a campaign in `folder` came to. Raises StorageError if its record is damaged."""
    found = _read(folder)
    fleet = _with_late(found.fleet, clients) if found.fleet is not None else _alone(found)
    work = tuple(client.tests for client in fleet.clients)
    return _trial([found], [folder], clients, seed, work, fleet)


def independent(folders: Sequence[Path], seed: int) -> Trial:
    """What the campaigns in `folders` came to, put together. Raises StorageError."""
    found = [_read(folder) for folder in folders]
    return _trial(found, folders, len(folders), seed, tuple(one.runs for one in found))


@dataclass(frozen=True, slots=True)
class _Found:
    """A campaign. `paths`: hashes; `covered`: coverage indices, of so many `directions`."""

    runs: int
    redundant: int
    seconds: float
    fleet: FleetFigures | None
    paths: Set[int]
    covered: Set[int]
    directions: int


def _read(folder: Path) -> _Found:
    with Store.read(folder) as record:
        progress = record.get(PROGRESS)
        if progress is None:
            raise UsageError("the campaign in this folder has run no test", str(folder), "Start the experiment again.")
        coverage = Coverage(record.sources().directions, record.coverage())
        totals, fleet = progress.totals, record.get(FLEET)
        counted = totals.runs, totals.redundant, round(progress.seconds, 3)
        return _Found(*counted, fleet, record.path_hashes(), coverage.covered, coverage.total)


def _with_late(fleet: FleetFigures, clients: int) -> FleetFigures:
    """All clients, those too that came when nothing was left to do."""
    late = (ClientFigures(f"late {number}", 0, 0.0, 0.0) for number in range(len(fleet.clients), clients))
    return structs.replace(fleet, clients=(*fleet.clients, *late))


def _alone(found: _Found) -> FleetFigures:
    """A campaign of one client: nobody to talk to, nothing to wait for."""
    client = ClientFigures("alone", found.runs, found.seconds, found.seconds)
    return FleetFigures((client,), {}, found.runs, found.redundant, found.seconds)


def _trial(
    found: Sequence[_Found],
    folders: Sequence[Path],
    clients: int,
    seed: int,
    workload: tuple[int, ...],
    fleet: FleetFigures | None = None,
) -> Trial:
    paths = set[int]().union(*(one.paths for one in found))
    covered = set[int]().union(*(one.covered for one in found))
    tests = sum(one.runs for one in found)
    seconds = max(one.seconds for one in found)
    counted = (tests, len(paths), len(covered), found[-1].directions, seconds)
    return Trial(clients, seed, fleet is not None, *counted, workload, fleet, tuple(folders))
