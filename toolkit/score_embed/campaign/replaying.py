"""Run tests of a finished campaign again, on the image it was made with, and compare what comes of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from score_embed.board.profile import find_board
from score_embed.campaign import folder as campaign_folder
from score_embed.campaign import trust
from score_embed.campaign.opening import recorded_settings
from score_embed.campaign.running import Runner
from score_embed.contract.entry import Array
from score_embed.contract.outcome import Verdict
from score_embed.errors import StorageError, TargetError, UsageError
from score_embed.image.image import load_image
from score_embed.results.parts import PROGRAM as EXPLORED
from score_embed.results.parts import PROVENANCE, digest_of
from score_embed.results.store import Store
from score_embed.results.test_rows import TestRow
from score_embed.witness.process import PATIENCE, Died, WitnessProcess
from score_embed.witness.witness import PROGRAM


@dataclass(frozen=True)
class Replayed:
    """A recorded test and what it did this time."""

    row: TestRow
    verdict: str
    path_hash: int
    output: bytes
    arrays: tuple[Array, ...]  # inputs that are shown as such

    @property
    def same(self) -> bool:
        """A test that was lost has nothing to compare with."""
        return self.was_lost or (self.verdict, self.path_hash) == (self.row.verdict, self.row.path_hash)

    @property
    def was_lost(self) -> bool:
        return self.row.verdict == Verdict.LOST.value


def witness_again(folder: Path, number: int, confined: bool = True) -> str | None:
    """What the sanitizers print of a test in which the second witness found something; None if it did not."""
    with Store.read(folder) as record:
        if all(found.test != number for found in record.found_by_witness()):
            return None
        test, origin = record.test(number), record.get(PROVENANCE)
    assert test is not None
    if origin is None or digest_of(folder / PROGRAM) != origin.witness:
        what = "the program of the second witness is damaged, or is not the one that this campaign was made with"
        raise StorageError(what, str(folder / PROGRAM), "Put it back from a copy, or start a new campaign.")
    process = WitnessProcess(folder / PROGRAM, confined)
    try:
        process.send(test.input)
        answer = process.take(PATIENCE)
    except Died as error:
        hint = "It is made with the campaign: start a new one."
        raise TargetError(
            f"the program of the second witness does not run: {error}", str(folder / PROGRAM), hint
        ) from None
    finally:
        process.close()
    return "" if answer is None else answer.text


def replay_tests(
    folder: Path, wanted: int | None, port: str | None = None, *, trusted: bool = False, confined: bool = True
) -> list[Replayed]:
    """Run test number `wanted`, or all, again. `port`: where the board is now; `trusted`: see `trust.require`."""
    with Store.open(folder) as record:
        settings = recorded_settings(record)
        trust.require(record, trusted)
        program = record.get(EXPLORED)
        entry = program.entry if program is not None else None
        arrays = entry.arrays if entry is not None else ()
        rows = [row for row in record.tests() if wanted is None or row.number == wanted]
        if not rows:
            what = "the campaign has no tests" if wanted is None else f"the campaign has no test {wanted}"
            raise UsageError(what, str(folder), "The numbers are in the names of the files in tests/ and bugs/.")
        board = find_board(settings.board, settings.run, port or settings.port)
        board.require_tools()
        image = load_image(folder / campaign_folder.IMAGE)
    target = campaign_folder.start_target(board, image.elf, image.build_id, confined)
    try:
        runner = Runner(target, settings, image)
        results: list[Replayed] = []
        for row in rows:
            finished = runner.replay(row.number, row.input)
            results.append(Replayed(row, finished.verdict.value, finished.path_hash, finished.output, arrays))
        return results
    finally:
        target.close()
