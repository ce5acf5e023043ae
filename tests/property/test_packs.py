"""Pairs that wait in the record, packed, merged, done with and ranked anew, beside a dictionary of them."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from score_embed.errors import StorageError
from score_embed.explore.pair import LeftOut, Pair
from score_embed.explore.queue import PairBatch, Unpacked
from score_embed.results.packs import MOST
from score_embed.results.store import Store

INPUTS = st.one_of(st.binary(max_size=12), st.sampled_from([bytes(range(100)), bytes(range(99)), b"", b"\0" * 300]))
LANES = st.sampled_from([b"\0\0", b"\0\1", b"\1\0"])
# What a batch does: new pairs (lane, place in it, input), then how many of the first in order are done, and reranked.
BATCHES = st.lists(
    st.tuples(
        st.lists(st.tuples(LANES, st.integers(0, 999), INPUTS, st.booleans()), max_size=12),
        st.integers(0, 6),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=6,
)


def made(number: int, data: bytes, is_pending: bool) -> Pair:
    left_out = LeftOut(bytes([number % 251]) * 16, ((64, number), (128, 8))) if number % 5 == 0 else None
    decided = bytes([7]) * 16 if is_pending else None
    ident = number.to_bytes(16, "little")
    return Pair(ident, data, number, number, number, 7 * number, 5, range(3), left_out, decided, int(is_pending), 2)


@given(BATCHES, st.booleans(), LANES)
@settings(max_examples=150, deadline=None)
def test_packs_are_a_dictionary(
    batches: list[tuple[list[tuple[bytes, int, bytes, bool]], int, int]], reopens: bool, lane: bytes
) -> None:
    with TemporaryDirectory() as folder:
        record = Store.create(Path(folder))
        model: dict[bytes, Pair] = {}  # by rank
        count = 0
        for new, done, moved in batches:
            pairs, ranks = [], []
            for its_lane, place, data, is_pending in new:
                count += 1
                rank = its_lane + place.to_bytes(2, "big") + count.to_bytes(4, "big")
                pairs.append(made(count, data, is_pending))
                ranks.append(rank)
                model[rank] = pairs[-1]
            record.waiting.add(pairs, ranks)
            record.commit()
            if reopens:
                record.close()
                record = Store.open(Path(folder))
                record.pairs.free()
            assert record.waiting.waiting() == len(model)
            for rank, pair in list(record.waiting.waiting_after(b""))[:done]:
                record.waiting.done(pair)
                assert model.pop(rank) == pair
            for rank, pair in list(record.waiting.waiting_after(b""))[:moved]:
                count += 1
                other = b"\1\0" + bytes(3) + count.to_bytes(3, "big")
                record.waiting.rerank(pair, other)
                model[other] = model.pop(rank)
            assert list(record.waiting.waiting_after(b"")) == sorted(model.items())
            for rank in (lane, *list(model)[:3]):  # those of a lane, and those behind one that waits
                behind = [item for item in sorted(model.items()) if item[0] > rank]
                assert list(record.waiting.waiting_after(rank)) == [item for item in behind if item[0][:2] >= rank[:2]]
        record.close()
        record = Store.open(Path(folder))
        model = dict(record.waiting.waiting_after(b""))  # an unfinished batch is dropped
        assert sorted(record.pairs.without_inputs()) == sorted(pair.to_bytes() for pair in model.values())
        record.pairs.remember()  # a fleet goes on with it: a row each
        assert record.waiting.waiting() == len(model)
        assert record.pairs.some([pair.id for pair in model.values()]) == {
            pair.id: pair.to_bytes() for pair in model.values()
        }
        assert list(record.waiting.waiting_after(b"")) == sorted(model.items())
        record.close()


def nobody(data: bytes) -> int:
    raise AssertionError("no input is shared here")


def packed(inputs: list[bytes]) -> tuple[list[tuple[bytes, Pair]], bytes, dict[int, bytes]]:
    """Pairs and their ranks, the pack, and the inputs that are kept apart from it."""
    batch = PairBatch()
    pairs = [made(number, data, number % 3 == 0) for number, data in enumerate(inputs)]
    ranks = [b"\0\0" + number.to_bytes(2, "big") for number in range(len(pairs))]
    numbers: dict[bytes, int] = {}
    batch.add(pairs, ranks)
    rows, gone = batch.take(5, MOST, lambda data: numbers.setdefault(data, len(numbers) + 1))
    assert not gone
    ((number, size, first, last, pack),) = rows
    assert (number, size, first, last) == (5, len(pairs), ranks[0], ranks[-1])
    assert [pair.row for pair in pairs] == list(range(5, 5 + len(pairs)))
    assert set(numbers) == {pair.input for pair in pairs if pair.pending and len(pair.input) >= 64}
    return list(zip(ranks, pairs, strict=True)), pack, {number: data for data, number in numbers.items()}


@given(st.lists(INPUTS, min_size=1, max_size=MOST), st.data())
@settings(max_examples=200, deadline=None)
def test_damaged_packs_are_pairs_or_an_error(inputs: list[bytes], data: st.DataObject) -> None:
    pairs, pack, apart = packed(inputs)
    assert list(Unpacked(pack, apart.__getitem__)) == pairs
    at = data.draw(st.integers(0, len(pack) - 1))
    cut = data.draw(st.booleans())
    hurt = pack[:at] if cut else pack[:at] + data.draw(st.binary(min_size=1, max_size=3)) + pack[at + 1 :]
    try:
        found = list(Unpacked(hurt, lambda number: b""))
    except StorageError:
        return
    assert len(found) <= len(pairs) if cut else all(isinstance(pair, Pair) for _, pair in found)


def test_packs_are_of_one_lane_and_no_longer_than_said() -> None:
    batch = PairBatch()
    pairs = [made(number, b"same", False) for number in range(10)]
    ranks = [(b"\0\0" if number < 7 else b"\0\1" if number < 9 else b"") + bytes([number]) for number in range(10)]
    ranks[9] = b""
    batch.add(pairs, ranks)
    rows, _ = batch.take(1, 3, nobody)
    assert [row[:4] for row in rows] == [
        (1, 1, b"", b""),
        (2, 3, ranks[0], ranks[2]),
        (5, 3, ranks[3], ranks[5]),
        (8, 1, ranks[6], ranks[6]),
        (9, 2, ranks[7], ranks[8]),
    ]
    assert batch.take(1, 3, nobody) == ([], [])


def test_siblings_take_few_bytes() -> None:
    _, pack, _ = packed([bytes(40) + bytes([i]) + bytes(41) for i in range(40)])
    assert len(pack) < 40 * 60


@pytest.mark.parametrize("pair", [b"pair", Pair.__new__(Pair)], ids=["bytes", "without its values"])
def test_only_a_pair_is_taken_for_one(pair: Any) -> None:
    with pytest.raises(ValueError, match="a pair is expected"):
        PairBatch().done(pair)
    with pytest.raises(TypeError, match="subclass"):
        type("Mine", (Pair,), {})
