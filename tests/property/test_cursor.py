"""Numbers of an event stream: what was written is read, and where it breaks off is said."""

from __future__ import annotations

import pytest
from events import Stream
from hypothesis import given
from hypothesis import strategies as st

from score_embed.trace.trail import Cursor, TraceError

unsigned = st.one_of(st.integers(0, 300), st.integers(0, (1 << 64) - 1))
signed = st.one_of(st.integers(-300, 300), st.integers(-(1 << 63), (1 << 63) - 1))


def reading(stream: Stream, pointer_bits: int = 32) -> Cursor:
    cursor = Cursor(pointer_bits)
    cursor.events = bytes(stream)
    return cursor


@given(st.lists(st.tuples(unsigned, signed, st.binary(max_size=3)), max_size=5))
def test_numbers_are_read_as_they_were_written(written: list[tuple[int, int, bytes]]) -> None:
    stream = Stream()
    for number, difference, raw in written:
        stream.varint(number).signed(difference).raw(raw)
    cursor = reading(stream)
    assert [(cursor.varint(), cursor.signed(), cursor.take(len(raw))) for _, _, raw in written] == written
    assert cursor.at == len(cursor.events)


@given(st.sampled_from([16, 32, 64]), st.lists(st.integers(0, (1 << 64) - 1), max_size=5))
def test_addresses_are_relative_to_the_last(bits: int, addresses: list[int]) -> None:
    stream = Stream(bits)
    wanted = [address % (1 << bits) for address in addresses]
    for address in wanted:
        stream.address(address)
    cursor = reading(stream, bits)
    assert [cursor.next_address() for _ in wanted] == wanted
    assert cursor.address == (wanted[-1] if wanted else 0)


@given(st.lists(st.integers(0, 1000), max_size=5))
def test_activations_are_relative_to_the_last(depths: list[int]) -> None:
    stream = Stream()
    for depth in depths:
        stream.signed(depth - stream._depth)
        stream._depth = depth
    cursor = reading(stream)
    assert [cursor.next_depth() for _ in depths] == depths


def test_before_there_are_events_there_is_nothing_to_read() -> None:
    with pytest.raises(TraceError) as caught:
        Cursor(32).varint()
    assert caught.value.where == "event byte 0 of 0"


@pytest.mark.parametrize("cut", [b"", b"\x80", b"\xff" * 9])
def test_a_number_that_breaks_off_is_damage(cut: bytes) -> None:
    cursor = reading(Stream().raw(b"\1" + cut))
    assert cursor.varint() == 1
    with pytest.raises(TraceError, match="it ends within an event") as caught:
        cursor.varint()
    assert caught.value.where == f"event byte 1 of {1 + len(cut)}"
    with pytest.raises(TraceError, match="it ends within an event"):
        cursor.take(len(cut) + 1)


def test_a_number_has_ten_bytes_at_most() -> None:
    assert reading(Stream().raw(b"\xff" * 9 + b"\1")).varint() == (1 << 64) - 1
    with pytest.raises(TraceError, match="more than 10 bytes"):
        reading(Stream().raw(b"\xff" * 10 + b"\1")).varint()
