"""The checksums of a record's pages: what they notice, and what is no damage."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import recorded
import records

from score_embed.campaign.folder import make_folder
from score_embed.errors import StorageError, UsageError
from score_embed.explore.pair import Pair
from score_embed.results import checksums, test_rows, wal
from score_embed.results.checksums import PAGE, DamagedError, check
from score_embed.results.parts import PROGRESS, Totals
from score_embed.results.store import Store
from score_embed.results.test_rows import TestRow

DB, LOG, SUMS = "campaign.db", "campaign.db-wal", "campaign.sums"


def row(number: int) -> TestRow:
    return TestRow(number, bytes([number % 251]) * 300, "return", 0, number * 7919, "new", "", (), "")


def fill(record: Store, first: int, last: int) -> None:
    for number in range(first, last):
        record.add_test(row(number), True)
    record.commit()


def closed(folder: Path) -> Path:
    folder.mkdir()
    with Store.create(folder) as record:
        for first in range(1, 200, 40):
            fill(record, first, first + 40)
    return folder


def killed(folder: Path) -> Path:
    """As SIGKILL leaves it: the last commits are in the log only."""
    live = folder.with_name("live")
    live.mkdir()
    with Store.create(live) as record:
        fill(record, 1, 60)
        record._database._checkpoint()
        fill(record, 60, 120)
        fill(record, 120, 200)
        shutil.copytree(live, folder)
    assert (folder / LOG).stat().st_size > 4 * PAGE
    return folder


MADE: dict[str, Callable[[Path], Path]] = {"closed": closed, "killed": killed}


def count_tests(folder: Path) -> int:
    with Store.open(folder) as record:
        return len(list(record.tests()))


@pytest.mark.parametrize("how", MADE)
def test_what_was_written_is_as_it_was_written(how: str, tmp_path: Path) -> None:
    folder = MADE[how](tmp_path / "o")
    found = check(folder / DB)
    assert not found.is_shorter
    assert found.known.size * PAGE >= (folder / DB).stat().st_size
    with Store.read(folder) as record:
        assert len(list(record.tests())) >= 199
    assert count_tests(folder) >= 199
    assert not check(folder / DB).is_shorter


@pytest.mark.parametrize("how", MADE)
def test_a_flipped_bit_of_a_page_is_noticed(how: str, tmp_path: Path) -> None:
    folder = MADE[how](tmp_path / "o")
    data, rng = (folder / DB).read_bytes(), random.Random(1)
    in_log = check(folder / DB).known.changed if how == "killed" else {}
    noticed = 0
    for _ in range(200):
        at = rng.randrange(len(data))
        flipped = bytearray(data)
        flipped[at] ^= 1 << rng.randrange(8)
        (folder / DB).write_bytes(flipped)
        try:
            check(folder / DB)
        except DamagedError:
            noticed += 1
        else:
            assert at // PAGE + 1 in in_log  # the log has the page: what is here counts for nothing
    assert noticed == 200 if how == "closed" else noticed > 0
    for length in (0, 1, PAGE, len(data) // 2, len(data) - 1):
        copy = tmp_path / str(length)
        shutil.copytree(folder, copy)
        (copy / DB).write_bytes(data[:length])
        try:
            assert count_tests(copy) == 199  # the log has all that was cut off
            assert in_log
        except StorageError:
            assert (copy / DB).stat().st_size == length


def test_a_log_that_was_cut_is_an_earlier_moment_and_that_is_said(tmp_path: Path) -> None:
    folder = killed(tmp_path / "o")
    data, rng = (folder / LOG).read_bytes(), random.Random(2)
    length = 32 + wal.read(folder / LOG, PAGE).frames * (24 + PAGE)  # behind it lies what an earlier log had
    for number in range(20):
        copy = tmp_path / str(number)
        shutil.copytree(folder, copy)
        changed = bytearray(data)
        if number % 2:
            del changed[rng.randrange(length) :]
        else:
            changed[rng.randrange(length)] ^= 1
        (copy / LOG).write_bytes(changed)
        with Store.open(copy) as record:
            assert len(list(record.tests())) in (59, 119, 199)
            assert "an earlier moment" in record.warning
        with Store.open(copy) as record:
            assert not record.warning


def test_another_program_may_put_the_log_into_the_database(tmp_path: Path) -> None:
    folder = killed(tmp_path / "o")
    with closing(sqlite3.connect(folder / DB)) as db:
        db.execute("SELECT count(*) FROM tests").fetchone()
    assert not (folder / LOG).exists()
    assert count_tests(folder) == 199
    with closing(sqlite3.connect(folder / DB, isolation_level=None)) as db:
        db.execute("UPDATE tests SET verdict = 'exit' WHERE number = 3")
    with pytest.raises(StorageError, match="not as they were written"):
        Store.read(folder)


@pytest.mark.parametrize("damage", [lambda sums: sums.unlink(), lambda sums: sums.write_bytes(sums.read_bytes()[:-1])])
def test_without_checksums_nothing_is_believed(damage: Callable[[Path], None], tmp_path: Path) -> None:
    folder = closed(tmp_path / "o")
    damage(folder / SUMS)
    for use in (Store.open, Store.read):
        with pytest.raises(StorageError, match="its checksums") as caught:
            use(folder)
        assert "--damaged" in caught.value.hint
    assert [test.number for test in test_rows.salvaged(folder)] == list(range(1, 201))


def test_a_page_that_cannot_be_read_costs_its_tests_only(tmp_path: Path) -> None:
    folder = closed(tmp_path / "o")
    data = bytearray((folder / DB).read_bytes())
    page = len(data) // PAGE // 2
    data[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)
    (folder / DB).write_bytes(data)
    found = [test for test in test_rows.salvaged(folder) if test.input == row(test.number).input]
    assert 150 < len(found) < 200


def test_checkpoints_do_not_wait_for_readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checksums, "_LOG_FRAMES", 100)
    folder = tmp_path / "o"
    folder.mkdir()
    with Store.create(folder) as record:
        fill(record, 1, 60)
        with Store.read(folder) as reader:
            assert len(list(reader.tests())) == 59
            fill(record, 60, 3000)
            assert record._database._sums is not None
            assert record._database._sums.is_due
            assert len(list(reader.tests())) == 59
        fill(record, 3000, 6000)
        record._database._checkpoint()
        assert not check(folder / DB).is_shorter
    assert count_tests(folder) == 5999
    assert (folder / SUMS).stat().st_size < (folder / DB).stat().st_size / 500


def test_a_file_system_that_is_full_costs_the_last_commit_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be noted of a commit is in the log, which therefore stays."""
    folder = tmp_path / "o"
    folder.mkdir()
    record = Store.create(folder)
    fill(record, 1, 60)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checksums.Checksums, "committed", full)
    record.add_test(row(60), True)
    with pytest.raises(StorageError, match="full"):
        record.commit()
    record.close()
    monkeypatch.undo()
    assert count_tests(folder) in (59, 60)


@pytest.mark.parametrize(
    "what",
    [
        "CREATE TRIGGER t AFTER INSERT ON tests BEGIN DELETE FROM pairs; END",
        "CREATE UNIQUE INDEX i ON lost(why)",
        "CREATE UNIQUE INDEX i ON coverage(test) WHERE test = 1",
    ],
)
def test_tables_that_are_not_ours(what: str, tmp_path: Path) -> None:
    """A trigger would be executed when we write; of rows that are alike there would be the last one only."""
    folder = closed(tmp_path / "o")
    records.change(folder, what)
    for use in (Store.open, Store.read):
        with pytest.raises(StorageError, match="not the record of a campaign"):
            use(folder)


def journal(database: Path, belongs_to: Path) -> bytes:
    """SQLite's rollback journal of the first page, as part of a transaction over several databases, whose journal that
    is."""
    page, nonce = database.read_bytes()[:PAGE], 12345
    magic = bytes.fromhex("d9d505f920a163d7")
    head = magic + struct.pack(">5I", 1, nonce, database.stat().st_size // PAGE, 512, PAGE)
    row = struct.pack(">I", 1) + page + struct.pack(">I", (nonce + sum(page[PAGE - 200 : 0 : -200])) & 0xFFFFFFFF)
    name = os.fsencode(belongs_to)
    return (
        head.ljust(512, b"\0")
        + row
        + struct.pack(">I", (1 << 30) // PAGE + 1)
        + name
        + struct.pack(">II", len(name), sum(name))
        + magic
    )


def test_a_journal_that_sqlite_would_obey(tmp_path: Path) -> None:
    """It deletes the file that the journal names, whatever that is."""
    folder = closed(tmp_path / "o")
    mine = tmp_path / "mine"
    mine.write_text("kept")
    (folder / f"{DB}-journal").write_bytes(journal(folder / DB, mine))
    plain = shutil.copytree(folder, tmp_path / "plain")
    for use in (Store.open, Store.read):
        with pytest.raises(UsageError, match="a journal that SQLite would obey"):
            use(folder)
    assert mine.read_text() == "kept"
    with closing(sqlite3.connect(plain / DB)) as db:
        db.execute("SELECT count(*) FROM tests")
    assert not mine.exists()  # this is what it would have done


def test_a_folder_is_new_or_without_links(tmp_path: Path) -> None:
    (tmp_path / "campaign.sums.new").symlink_to(tmp_path / "mine")
    with pytest.raises(UsageError, match="a link or a device"):
        Store.create(tmp_path)
    with pytest.raises(UsageError, match="a link or a device"):
        make_folder(tmp_path, "p")
    (tmp_path / "campaign.sums.new").unlink()
    (tmp_path / "mine").write_text("kept")
    (tmp_path / ".probe").symlink_to(tmp_path / "mine")
    make_folder(tmp_path, "p")
    assert (tmp_path / "mine").read_text() == "kept"


@pytest.mark.parametrize("name", [DB, SUMS])
def test_a_file_of_holes_is_not_read_to_its_end(name: str, tmp_path: Path) -> None:
    folder = closed(tmp_path / "o")
    os.truncate(folder / name, 1 << 42)
    for use in (Store.open, Store.read):
        with pytest.raises(StorageError, match="mostly holes"):
            use(folder)


def test_of_a_file_that_is_too_long_no_more_is_read(tmp_path: Path) -> None:
    folder = closed(tmp_path / "o")
    pages = (folder / DB).stat().st_size // PAGE
    os.truncate(folder / DB, 1 << 30)
    with pytest.raises(DamagedError, match=f"more than {pages} pages"):
        check(folder / DB)
    assert len(checksums._sums(folder / DB, pages)) < pages + 300


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW tests AS WITH RECURSIVE t(number) AS (SELECT 1 UNION ALL SELECT 1 FROM t) "
        "SELECT number, x'00' AS input, 0 AS path, 1 AS layout FROM t",
        "CREATE TABLE tests(number INTEGER PRIMARY KEY, input AS (zeroblob(1000000000)), path, layout)",
    ],
)
def test_what_is_saved_of_a_damaged_record_are_rows_of_ours(statement: str, tmp_path: Path) -> None:
    folder = closed(tmp_path / "o")
    records.change(folder, "DROP TABLE tests", statement)
    with pytest.raises(StorageError, match="not the record of a campaign"):
        list(test_rows.salvaged(folder))


def test_tables_that_make_no_sense(tmp_path: Path) -> None:
    """Of whatever has damaged the record while it was written."""
    folder = closed(tmp_path / "o")
    with closing(sqlite3.connect(folder / DB)) as db:
        ((page,),) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'paths'")
    data = bytearray((folder / DB).read_bytes())
    data[(page - 1) * PAGE + 8] ^= 0x55  # where its first cell is
    (folder / DB).write_bytes(data)
    records.seal(folder / DB)
    with pytest.raises(StorageError, match="damaged"):
        Store.open(folder)


def test_totals_that_are_not_those_of_the_rows(tmp_path: Path) -> None:
    recorded.write(tmp_path)
    with Store.open(tmp_path) as record:
        totals = record.get(PROGRESS).totals  # type: ignore[union-attr]
        counts = Totals(runs=4, paths=len(record.path_hashes()))
        record.require_totals(counts)
        for wrong in (Totals(runs=5, paths=counts.paths), Totals(runs=4, paths=counts.paths + 1)):
            with pytest.raises(StorageError, match="its totals are"):
                record.require_totals(wrong)
        assert totals.runs == 4


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE tests SET path = 'x'",
        "UPDATE tests SET input = 7",
        "UPDATE tests SET layout = 'x'",
        "UPDATE layouts SET objects = '[[]]'",
        "UPDATE layouts SET objects = x'ff'",
        """UPDATE layouts SET objects = '[["x", 0, 4, "word"]]'""",
        "UPDATE paths SET hashes = 7",
        "UPDATE paths SET hashes = x'ff'",
        "UPDATE coverage SET test = 'x'",
        "UPDATE bugs SET data = x'00'",
        "UPDATE meta SET value = x'ff' WHERE key = 'program'",
        "UPDATE meta SET value = replace(value, '{', '[')",
        "UPDATE pairs SET data = 5",
        "UPDATE pairs SET data = 'text'",
        "UPDATE pairs SET data = x'07'",
        "UPDATE packs SET pairs = 5",
        "UPDATE packs SET pairs = 'text'",
        "UPDATE packs SET pairs = x'07'",
        "UPDATE packs SET pairs = substr(pairs, 1, 40)",
        "UPDATE packs SET pairs = pairs || x'07'",
        "UPDATE packs SET size = size + 1",
        "UPDATE packs SET size = 'x'",
    ],
)
def test_values_that_are_not_of_their_type(statement: str, tmp_path: Path) -> None:
    """As only somebody who wants it puts them there."""
    from score_embed.report import findings

    recorded.write(tmp_path)
    with Store.open(tmp_path) as record:
        record.waiting.add([Pair(bytes([n]) * 16, b"abc", 1, 1, 1, 0, 18, range(6, 7)) for n in (1, 2)], [b"1", b"2"])
    records.change(tmp_path, statement)
    try:
        with Store.read(tmp_path) as record:
            findings.read(record, 10)
            list(record.path_tests())
            record.path_hashes()
            list(record.pairs.without_inputs())
    except StorageError:
        return
    assert "coverage" in statement  # nobody reads that column as a number


@pytest.mark.parametrize(
    "name", ["campaign.sums", "campaign.sums.new", "campaign.db-shm", "summary.json", "report.html", "image.elf"]
)
def test_files_of_a_campaign_are_no_links(name: str, tmp_path: Path) -> None:
    """Who opens somebody else's folder would write elsewhere."""
    folder = closed(tmp_path / "o")
    mine = tmp_path / "mine"
    mine.write_text("kept")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(mine)
    for use in (Store.open, Store.read):
        with pytest.raises(UsageError, match="a link or a device"):
            use(folder)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(UsageError, match="a link or a device"):
        Store.read(folder)
    assert mine.read_text() == "kept"
