"""Numbers and words that the engine has beside contract/: the same in both."""

from __future__ import annotations

from score_embed.contract.descriptors import HASH_FACTORS, HASH_START, Reserved
from score_embed.contract.outcome import Verdict
from score_embed.contract.sites import Op, Place, SelectFlag, SiteKind
from score_embed.contract.wire import VERDICTS, WIRE_VERSION
from score_embed.contract.words import Note
from score_embed.engine._core import CONTRACT, WIRE


def test_numbers_of_site_tables_and_streams() -> None:
    for last in (SiteKind.MARK, Place.NONE, Op.FLE, Reserved.OPAQUE_NUMBERS):
        assert max(type(last)) is last  # a new one needs a place in the engine
        assert CONTRACT[type(last).__name__] == last
    assert [kind.value for kind in SiteKind] == list(range(1, len(SiteKind) + 1))
    assert [place.value for place in Place] == list(range(len(Place)))
    assert [op.value for op in Op] == list(range(1, len(Op) + 1))
    assert (CONTRACT["ADDRESS"], CONTRACT["FADD"]) == (Op.ADDRESS, Op.FADD)
    assert [number.value for number in Reserved] == [0, *range(CONTRACT["UNTAINT"], len(Reserved) + 1)]
    assert CONTRACT["CONSTANT"] == SelectFlag.CONSTANT


def test_hashes() -> None:
    assert CONTRACT["HASH_START"] == HASH_START
    assert CONTRACT["HASH_FACTORS"] == HASH_FACTORS


def test_notes() -> None:
    assert CONTRACT["notes"] == (
        Note.SYMBOLIC_ADDRESS, Note.OUTSIDE, Note.OPAQUE_ADDRESS, Note.OPAQUE_CONDITION, Note.CONCRETIZED,
        Note.CONVERSION, Note.FLOAT_PATTERN, Note.OPAQUE_ARGUMENTS, Note.OPAQUE_CHANGED, Note.OPAQUE_FINDS,
        Note.CALLBACK_RETURN, Note.OUT_OF_REACH, Note.IN_HANDLER, Note.HANDLER_READS, Note.DIVERGENCE,
    )  # fmt: skip


def test_numbers_of_the_wire() -> None:
    """Types and flags are compared by what both sides of the link make of them, in tests/property/test_wire.py."""
    assert (WIRE_VERSION, len(VERDICTS), VERDICTS.index(Verdict.WATCHDOG)) == WIRE
