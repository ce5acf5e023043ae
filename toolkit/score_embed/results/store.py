"""`campaign.db`: the one record of a campaign. Reports are functions of it; a killed campaign goes on from it.

Its tables are here, but for those of pairs (`results/pairs.py`, `packs.py`), of paths (`paths.py`) and of the layouts
of inputs (`test_rows.py`). How it is opened and written: `results/database.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, TypeVar

from score_embed.errors import UsageError
from score_embed.results import packs, pairs, paths, test_rows
from score_embed.results.bugs import Bug
from score_embed.results.database import Database
from score_embed.results.packs import Packs
from score_embed.results.pairs import LostTable, PairTable, signed, unsigned
from score_embed.results.parts import PROGRESS, SOURCES, Part, Progress, Totals, decoded, encode, typed
from score_embed.results.paths import PathTable
from score_embed.results.sourcemap import SourceMap
from score_embed.results.storage import FILE, damaged
from score_embed.results.test_rows import Alike, Columns, Layout, LayoutTable, TestRow, TestTable
from score_embed.results.testcase import named_inputs
from score_embed.results.waiting import WaitingPairs
from score_embed.results.witnessed import FOUND, LOST, Counts, Finding, Found

T = TypeVar("T")
VERSION = 15
_OWN_TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE coverage(number INTEGER PRIMARY KEY, test INTEGER NOT NULL);
CREATE TABLE bugs(test INTEGER PRIMARY KEY, data TEXT NOT NULL);
CREATE TABLE witnessed(test INTEGER PRIMARY KEY, outcome TEXT NOT NULL, data TEXT);
"""
SCHEMA = _OWN_TABLES + test_rows.SCHEMA + paths.SCHEMA + pairs.SCHEMA + packs.SCHEMA
_KEPT = "SELECT 1 UNION SELECT test FROM coverage UNION SELECT test FROM bugs"
_NEW_PATH = "is_new"
_UNWITNESSED = "NOT EXISTS (SELECT 1 FROM witnessed WHERE test = tests.number)"


class Store:
    """An open campaign folder. As a context manager it commits at the end, unless by an error."""

    def __init__(self, database: Database) -> None:
        self._database = database
        packed = Packs(database)
        self.pairs = PairTable(database, packed)
        self.waiting = WaitingPairs(database, self.pairs, packed)
        self.lost = LostTable(database, self.pairs)
        self.paths = PathTable(database)
        self._tests = TestTable(database)
        self._layouts = LayoutTable(database)
        self._sources: SourceMap | None = None

    @staticmethod
    def create(folder: Path) -> Store:
        return Store(Database.create(folder, SCHEMA, VERSION))

    @staticmethod
    def open(folder: Path) -> Store:
        """The record of a campaign to go on with: for one process at a time."""
        return Store(Database.open(folder, SCHEMA, VERSION))

    @staticmethod
    def read(folder: Path) -> Store:
        """The record as of its last commit, for reading only, whoever else uses it and though the disk be read-only."""
        return Store(Database.read(folder, SCHEMA, VERSION))

    @property
    def folder(self) -> Path:
        return self._database.folder

    @property
    def running(self) -> bool:
        """Another process goes on with this campaign."""
        return self._database.running

    @property
    def warning(self) -> str:
        """What whoever reads it should be told; mostly nothing."""
        if not self._database.is_shorter:
            return ""
        return f"{self.folder / FILE}-wal: warning: its end is damaged or gone: this is the record of an earlier moment"

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self.commit()
        finally:
            self.close()

    def survive_power_cuts(self) -> None:
        """From now on a commit is on the disk when it returns; else a power cut may take the last ones back."""
        self._database.survive_power_cuts()

    def close(self) -> None:
        """Drop an unfinished batch (it may hold half a test) and release the folder. Safe to call twice."""
        self._database.close()

    # What is written -----------------------------------------------------------------------------

    def due(self) -> bool:
        """Whether it is time to commit."""
        return self._database.due()

    def commit(self, progress: Progress | None = None) -> None:
        """End the batch; `progress` (running totals) goes into the same transaction."""
        if progress is not None:
            self.put(PROGRESS, progress)
        self._database.commit()

    def put(self, part: Part[T], value: T) -> None:
        if part.key == SOURCES.key:
            self._sources = None
        self._add("INSERT OR REPLACE INTO meta VALUES (?, ?)", (part.key, encode(value)))

    @property
    def due_at(self) -> float:
        """When, by time.monotonic, if nothing else is written."""
        return self._database.due_at

    def begin(self) -> None:
        """Something is to be written."""
        self._database.begin()

    def layout(self, objects: Layout) -> int:
        """The number by which a test's row says of what its input consists."""
        return self._layouts.number(objects)

    def add_tests(self, rows: Sequence[Alike], hashes: Sequence[int]) -> None:
        """Many at once: their rows, and the hashes of new paths."""
        self._tests.extend(rows)
        self.paths.extend(hashes)

    def add_test(self, row: TestRow, new_path: bool) -> None:
        path, layout = signed(row.path_hash), self._layouts.number(row.objects)
        self._tests.extend(
            [
                [
                    *(row.number, row.verdict, row.code, new_path, row.outcome, row.place, layout),
                    *(row.input, path, row.output),
                ]
            ]
        )
        if new_path:
            self.paths.add(row.path_hash)

    def add_coverage(self, numbers: Iterable[int], test: int) -> None:
        for number in numbers:
            self._add("INSERT OR IGNORE INTO coverage VALUES (?, ?)", (number, test))

    def put_bug(self, bug: Bug) -> None:
        self._add("INSERT OR REPLACE INTO bugs VALUES (?, ?)", (bug.test, encode(bug)))

    def put_witnessed(self, test: int, outcome: str, finding: Finding | None = None) -> None:
        """What the second witness said of a test."""
        data = None if finding is None else encode(finding)
        self._add("INSERT OR REPLACE INTO witnessed VALUES (?, ?, ?)", (test, outcome, data))

    # What is read --------------------------------------------------------------------------------

    def get(self, part: Part[T]) -> T | None:
        """None: nobody has put it there yet. Raises StorageError if it is damaged."""
        rows = self._read("SELECT value FROM meta WHERE key = ?", (part.key,))
        if not rows:
            return None
        ((text,),) = typed(rows, list[tuple[str]], part.key, self.folder)
        return decoded(text, part.kind, part.key, self.folder)

    def sources(self) -> SourceMap:
        """The program under test, as it was when the campaign began: read once, as it is large and stays."""
        if self._sources is None:
            self._sources = self.get(SOURCES)
        if self._sources is None:
            raise UsageError("the campaign in this folder never began", str(self.folder), "Start a new campaign.")
        return self._sources

    def path_hashes(self) -> set[int]:
        return set(self.paths.all())

    def require_totals(self, totals: Totals) -> None:
        """Raises StorageError unless the rows of tests and paths are as many as the totals say."""
        ((tests,),) = self._read("SELECT coalesce(max(number), 0) FROM tests")
        paths = len(self.paths)
        if (tests, paths) != (totals.runs, totals.paths):
            what = f"it has {tests} tests and {paths} paths, and its totals are {totals.runs} and {totals.paths}"
            raise damaged(self.folder, what)

    def coverage(self) -> list[int]:
        rows = typed(self._read("SELECT number FROM coverage"), list[tuple[int]], "coverage", self.folder)
        return [number for (number,) in rows]

    def coverage_by_test(self, besides: AbstractSet[int] = frozenset()) -> list[tuple[int, int]]:
        """The tests that covered something new, in order, and how many numbers each, but for those of `besides`."""
        rows = typed(self._read("SELECT test, number FROM coverage"), list[tuple[int, int]], "coverage", self.folder)
        return sorted(Counter(test for test, number in rows if number not in besides).items())

    def bugs(self) -> list[Bug]:
        rows = self._read("SELECT data FROM bugs ORDER BY test")
        texts = typed(rows, list[tuple[str]], "bugs", self.folder)
        return [decoded(text, Bug, "bugs", self.folder) for (text,) in texts]

    def tests(self) -> Iterator[TestRow]:
        """All executed tests in order: there may be millions."""
        yield from map(self._row, self._database.each("SELECT * FROM tests ORDER BY number"))

    def test(self, number: int) -> TestRow | None:
        rows = self._read("SELECT * FROM tests WHERE number = ?", (number,))
        return self._row(rows[0]) if rows else None

    def kept_tests(self) -> list[TestRow]:
        """The tests worth keeping: the first, those that brought coverage, and one for each bug."""
        chosen = f"{_KEPT} UNION SELECT test FROM witnessed WHERE outcome = '{FOUND}'"
        return [self._row(v) for v in self._read(f"SELECT * FROM tests WHERE number IN ({chosen}) ORDER BY number")]

    def path_tests(self) -> Iterator[TestRow]:
        """The tests that took a new path, in order."""
        yield from map(self._row, self._database.each(f"SELECT * FROM tests WHERE {_NEW_PATH} ORDER BY number"))

    def first_paths(self, limit: int) -> list[TestRow]:
        """The first tests that took a new path."""
        statement = f"SELECT * FROM tests WHERE {_NEW_PATH} ORDER BY number LIMIT ?"
        return [self._row(values) for values in self._read(statement, (limit,))]

    def unwitnessed_kept(self, limit: int) -> list[TestRow]:
        """Tests worth keeping that the second witness has not run, those that may not end last."""
        statement = (
            f"SELECT * FROM tests WHERE number IN ({_KEPT}) AND {_UNWITNESSED} "
            "ORDER BY verdict IN ('hang', 'watchdog', 'lost'), number LIMIT ?"
        )
        return [self._row(values) for values in self._read(statement, (limit,))]

    def unwitnessed_paths(self, after: int, limit: int) -> list[TestRow]:
        """Tests that took a new path and that the second witness has not run, from a number on."""
        statement = (
            f"SELECT * FROM tests WHERE number > ? AND {_NEW_PATH} AND {_UNWITNESSED} "
            "AND verdict NOT IN ('hang', 'watchdog', 'lost') ORDER BY number LIMIT ?"
        )
        return [self._row(values) for values in self._read(statement, (after, limit))]

    def found_by_witness(self) -> list[Found]:
        """The second witness's findings, in the order of their tests."""
        findings = "witnessed CROSS JOIN tests ON number = test WHERE data NOT NULL"  # in this order: few have any
        statement = f"SELECT data, number, input, layout, verdict, place FROM {findings} ORDER BY test"
        rows = typed(self._read(statement), list[tuple[str, int, bytes, int, str, str]], "findings", self.folder)
        found: list[Found] = []
        for data, number, given, layout, verdict, place in rows:
            finding = decoded(data, Finding, "findings", self.folder)
            objects = self._layouts.layout(layout)
            if finding.small:  # the sanitizer ended it before it asked for all
                given = finding.small
                objects = tuple(part for part in objects if part.offset + part.size <= len(given))
            simple = objects if finding.small else ()
            found.append(Found(finding, number, named_inputs(objects, given), verdict, place, simple))
        return found

    def witness_counts(self, paths: int) -> Counts:
        """How many tests the second witness has run, and has not; `paths`: that took a new path. It runs only those and
        what is kept, so that neither tests nor paths, of which there may be millions, have to be looked at."""
        outcomes = dict(self._read("SELECT outcome, count(*) FROM witnessed GROUP BY outcome"))
        witnessed = sum(outcomes.values())
        kept = f"FROM tests WHERE number IN ({_KEPT})"
        ((kept_paths,),) = self._read(f"SELECT count(*) {kept} AND {_NEW_PATH}")
        ((kept_left, kept_run),) = self._read(f"SELECT total({_UNWITNESSED}), total(NOT {_UNWITNESSED}) {kept}")
        paths_left = paths - kept_paths - (witnessed - int(kept_run))
        return Counts(witnessed, outcomes.get(LOST, 0), int(kept_left), paths_left)

    def _row(self, values: tuple[Any, ...]) -> TestRow:
        number, data, verdict, code, path, _, outcome, place, layout, output = typed(
            values, Columns, "tests", self.folder
        )
        objects = self._layouts.layout(layout)
        return TestRow(number, data, verdict, code, unsigned(path), outcome, place, objects, output)

    def _add(self, statement: str, values: tuple[object, ...]) -> None:
        self._database.add(statement, values)

    def _read(self, statement: str, values: tuple[object, ...] = ()) -> list[Any]:
        return self._database.rows(statement, values)
