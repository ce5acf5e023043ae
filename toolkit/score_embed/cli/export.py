"""`score-embed export DIR`: tests of a campaign for other programs: fuzzers, Unity, boards."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable

from msgspec.structs import replace

from score_embed.campaign import folder as campaign_folder
from score_embed.campaign import trust
from score_embed.cli import words
from score_embed.errors import StorageError, UsageError
from score_embed.image.image import load_image
from score_embed.report import findings, inputs, spreadsheet, unity
from score_embed.report.findings import Findings
from score_embed.report.output import write, write_pieces
from score_embed.results import criteria, minimising, test_rows
from score_embed.results.store import Store
from score_embed.results.test_rows import TestRow

CHOICES = ("kept", "paths", "all", "fewest")


def add_arguments(sub: argparse.ArgumentParser) -> None:
    sub.description = "Write tests of a campaign, finished or not, in forms that need no score-embed."
    sub.add_argument("folder", type=words.path, metavar="DIR", help="folder of a campaign, such as score-out/latest")
    sub.add_argument("--corpus", type=words.path, metavar="FOLDER|FILE.tar", help="write raw inputs, one file each")
    sub.add_argument("--unity", type=words.path, metavar="FILE", help="write a C file of regression tests for Unity")
    sub.add_argument("--csv", type=words.path, metavar="FILE", help="write a table of the tests, a row each")
    sub.add_argument(
        "--board-input", type=words.path, metavar="FILE", help="write one test as the C array score_input[]"
    )
    sub.add_argument(
        "--tests",
        choices=CHOICES,
        help="which: those that brought coverage or a bug (kept; default of --unity), those that took a new path "
        "(paths; default of --corpus), all (default of --csv), or the fewest that show all MC/DC and take all branches "
        "that were shown and taken (fewest)",
    )
    sub.add_argument("--test", type=int, metavar="N", help="only test N; default of --board-input: the first bug")
    sub.add_argument(
        "--trust",
        action="store_true",
        help="with --unity: the campaign is not yours, but its harness may be C of yours",
    )
    sub.add_argument("--damaged", action="store_true", help="with --corpus: what can be read of a damaged record")
    sub.set_defaults(execute=execute)


def execute(values: argparse.Namespace) -> int:
    if not (values.corpus or values.csv or values.unity or values.board_input):
        hint = "Say --corpus FOLDER, --csv FILE, --unity FILE or --board-input FILE."
        raise UsageError("nothing to export was named", "command line", hint)
    if values.damaged:
        return _save(values)
    with Store.read(values.folder) as record:
        found = findings.read(record)
        if found.program.whole and (values.unity or values.board_input):
            hint = "Say --corpus FOLDER: it has what the program reads, and its arguments."
            raise UsageError("tests of a whole program are files and arguments", str(values.folder), hint)
        if values.corpus:
            count = inputs.corpus(_tests(record, values, "paths"), values.corpus, whole=found.program.entry is None)
            print(f"wrote {count} inputs to {values.corpus}", file=sys.stderr)
        if values.csv:
            lines = spreadsheet.document(lambda: _tests(record, values, "all"))
            write_pieces(values.csv, (line.encode() for line in lines))
            print(f"wrote {values.csv}", file=sys.stderr)
        if values.unity:
            _require_harness(record, found, values.trust)
            write(values.unity, unity.document(found, _tests(record, values, "kept"), values.unity))
            print(f"wrote {values.unity}", file=sys.stderr)
        if values.board_input:
            write(values.board_input, inputs.board_input(found, _one(record, found, values.test)))
            print(f"wrote {values.board_input}", file=sys.stderr)
    return 0


def _require_harness(record: Store, found: Findings, trusted: bool) -> None:
    """A harness in a record, and stubs, become C that the user compiles: they have to be those that the image was made
    with."""
    entry, stubs = found.program.entry, found.program.stubs
    if not stubs and (entry is None or not entry.harness):
        return
    trust.require(record, trusted)
    image = load_image(record.folder / campaign_folder.IMAGE)
    if (image.entry, image.stubs) != (entry, stubs):
        hint = "Start a new campaign."
        raise StorageError("the harness in the record is not the one that was run", str(record.folder), hint)


def _save(values: argparse.Namespace) -> int:
    """All that can be read: whether it is right nobody knows."""
    if not values.corpus or values.csv or values.unity or values.board_input or values.tests or values.test is not None:
        hint = "Say --damaged --corpus FOLDER, and nothing else."
        raise UsageError("of a damaged record only inputs can be saved", "command line", hint)
    count = inputs.corpus(test_rows.salvaged(values.folder), values.corpus)
    print(f"wrote {count} inputs to {values.corpus}; begin with them: run --first {values.corpus}", file=sys.stderr)
    return 0


def _tests(record: Store, values: argparse.Namespace, default: str) -> Iterable[TestRow]:
    if values.test is not None:
        test = [_numbered(record, values.test)]
        return minimising.with_simple(record, test) if default == "kept" else test
    match values.tests or default:
        case "kept":
            return minimising.kept(record)
        case "paths":
            return record.path_tests()
        case "fewest":
            return _fewest(record)
        case _:
            return record.tests()


def _fewest(record: Store) -> Iterable[TestRow]:
    """Beside the user's own."""
    state = criteria.recorded(record)
    if state is None:
        hint = "Record them: run --goal mcdc or --strategy mcdc."
        raise UsageError("the campaign has recorded no vectors", str(record.folder), hint)
    chosen, _ = criteria.fewest(record.sources(), state)
    return [_numbered(record, number) for number in chosen]


def _one(record: Store, found: Findings, number: int | None) -> TestRow:
    if number is not None:
        return minimising.with_simple(record, [_numbered(record, number)])[0]
    if not found.bugs:
        raise UsageError("the campaign found no bug", str(record.folder), "Name the test with --test N.")
    bug = found.bugs[0]
    test = minimising.simple(record, _numbered(record, bug.test), bug)
    return replace(test, verdict=bug.kind, place=str(bug.place), code=0) if bug.witness else test


def _numbered(record: Store, number: int) -> TestRow:
    row = record.test(number)
    if row is None:
        hint = "The numbers are in the names of the files in tests/ and bugs/."
        raise UsageError(f"the campaign has no test {number}", str(record.folder), hint)
    return row
