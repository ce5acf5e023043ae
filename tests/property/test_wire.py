"""Any byte stream on the link gives frames and named errors, on both sides: no exception, no hang, no wild access.

With --all a million streams go to each side.
"""

from __future__ import annotations

import random
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from proof import STREAMS
from wire import build_c_side, end_message, mutated, piece, portions, ready_message, run_c_side, streams

from score_embed.contract.wire import WIRE_VERSION, EndFlag, Type
from score_embed.errors import TargetError
from score_embed.link import message
from score_embed.link.frame import MAX_FRAME, DecodeError, Decoder, Frame, FrameTooLong, encode
from score_embed.link.session import Request, Session


@pytest.fixture(scope="module")
def c_side(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_c_side(tmp_path_factory.mktemp("wire"))


@given(st.binary(max_size=2000), st.integers(0, 15), st.integers(0, 15))
def test_round_trip(payload: bytes, kind: int, sequence: int) -> None:
    encoded = encode(kind, sequence, payload)
    assert encoded.find(b"\0") == len(encoded) - 1
    assert Decoder().feed(encoded) == [Frame(kind, sequence, payload)]


@given(st.binary(max_size=500), st.lists(st.integers(1, 50)))
def test_portions_do_not_matter(data: bytes, sizes: list[int]) -> None:
    data += encode(1, 2, data)
    whole, parts = Decoder(), Decoder()
    expected = whole.feed(data)
    found = []
    for size in sizes:
        found += parts.feed(data[:size])
        data = data[size:]
    found += parts.feed(data)
    assert [str(item) for item in found] == [str(item) for item in expected]
    assert parts.errors == whole.errors


def test_python_decoder_survives_any_stream() -> None:
    decoder = Decoder()
    errors = frames = refused = 0
    for data in streams(1, STREAMS):
        for item in decoder.feed(data):
            if isinstance(item, DecodeError):
                errors += 1
            else:
                frames += 1
                try:
                    message.parse(item.type, item.payload)
                except message.MessageError:
                    refused += 1
    assert refused
    assert sum(decoder.errors.values()) == errors > STREAMS // 10
    assert frames > STREAMS // 10
    decoder.feed(b"\0")  # whatever is still open ends here
    assert decoder.feed(encode(5, 9, b"still alive"))[-1] == Frame(5, 9, b"still alive")


def test_python_session_survives_any_stream() -> None:
    """Replies that are damaged, misplaced or made up: bytes or a TargetError, and nothing else."""
    rng = random.Random(2)
    build_id, coverage = bytes(16), bytes(8)
    replies = [
        (Type.READY, ready_message(build_id, WIRE_VERSION)),
        (Type.TRACE, piece(1, 0, b"abc")),
        (Type.LOG, piece(1, 0, b"abc")),
        (Type.COVERAGE, piece(1, 0, coverage)),
        (Type.NEED_FULL, b"\1"),
        (Type.DAMAGED, b""),
        (Type.END, end_message(1, 7, EndFlag.MATCHED, b"abc", b"abc", log=3, coverage=2)),
    ]
    ended = refused = 0
    for _ in range(STREAMS // 20):
        session = Session(build_id)
        session.hello()
        session.start(Request(b"abc"))
        try:
            for _ in range(20):
                kind, payload = rng.choice(replies)
                if rng.random() < 0.5:
                    payload = mutated(rng, payload)
                frame = encode(kind, rng.randrange(16), payload)
                session.receive(mutated(rng, frame) if rng.random() < 0.3 else frame)
                ended += session.result is not None
        except TargetError as error:
            refused += bool(error.what and error.hint)
    assert ended
    assert refused


def test_a_frame_without_end_does_not_fill_memory() -> None:
    decoder = Decoder()
    found = [item for _ in range(20) for item in decoder.feed(b"\1" * (MAX_FRAME // 4))]
    assert [type(item) for item in found] == [FrameTooLong]
    assert len(decoder._held) <= MAX_FRAME
    assert decoder.feed(b"\0" + encode(1, 0, b"next"))[-1] == Frame(1, 0, b"next")


def test_c_decoder_agrees_with_the_python_one(c_side: Path) -> None:
    """Also that the C one neither reads nor writes out of bounds: it is built with sanitizers."""
    for seed in range(max(1, STREAMS // 100_000)):
        data = b"".join(streams(100 + seed, min(STREAMS, 100_000))) + b"\0"
        expected = []
        for item in Decoder().feed(data):
            if isinstance(item, Frame):
                expected.append(f"F {item.type} {len(item.payload)} {zlib.crc32(item.payload)}")
            elif type(item).__name__ != "BadSequence":  # C does not look at the sequence
                expected.append("E")
        found = run_c_side(c_side, "frames", data).decode().splitlines()
        limit = 500  # frames longer than the C buffer are errors there
        kept = [(a, b) for a, b in zip(expected, found, strict=True) if a == "E" or int(a.split()[2]) < limit]
        assert all(a == b for a, b in kept)
        assert len(kept) > len(expected) // 2


@pytest.mark.parametrize("size", [0, 1, 249, 250, 251, 252, 253, 254, 255, 256, 508, 509, 1000, 65000])
def test_c_encoder_agrees_with_the_python_one(c_side: Path, size: int) -> None:
    rng = random.Random(size)
    for payload in (bytes(size), b"\1" * size, rng.randbytes(size)):
        assert run_c_side(c_side, "encode", payload) == encode(Type.LOG, 0, payload)


def test_the_whole_target_loop_survives_any_stream(c_side: Path) -> None:
    """RUN messages with lengths, differences and limits that lie; at the end HELLO is still answered."""
    rng = random.Random(3)
    for seed in range(max(1, STREAMS // 100_000)):
        data = b"".join(streams(200 + seed, min(STREAMS, 100_000)))
        data += b"\0" + encode(Type.HELLO, 0, message.hello())
        out = run_c_side(c_side, "loop", data)
        decoder = Decoder()
        items = [item for part in portions(rng, out) for item in decoder.feed(part)]
        assert not decoder.errors
        kinds = [item.type for item in items if isinstance(item, Frame)]
        assert kinds[0] == kinds[-1] == Type.READY
        assert {Type.END, Type.NEED_FULL, Type.TRACE, Type.LOG, Type.DAMAGED} <= set(kinds)
        for item in items:
            assert isinstance(item, Frame)
            message.parse(item.type, item.payload)
