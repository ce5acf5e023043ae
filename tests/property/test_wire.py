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
from plain_wire import DecodeError, Decoder, End, Frame, MessageError, encode, hello, parse
from proof import STREAMS
from wire import build_c_side, end_message, mutated, piece, portions, ready_message, run_c_side, streams

from score_embed.contract.wire import VERDICTS, WIRE_VERSION, EndFlag, Type
from score_embed.engine import _core
from score_embed.engine._core import MAX_FRAME
from score_embed.errors import TargetError
from score_embed.link.session import Session


@pytest.fixture(scope="module")
def c_side(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_c_side(tmp_path_factory.mktemp("wire"))


NAMES = {
    "FrameTooLong": "too-long",
    "FrameTooShort": "too-short",
    "BadStuffing": "stuffing",
    "BadCrc": "crc",
    "BadSequence": "sequence",
}


def plain(items: list[Frame | DecodeError]) -> list[tuple[int, int, bytes] | str]:
    """What the plain decoder found, as the engine's says it."""
    return [
        (item.type, item.sequence, item.payload) if isinstance(item, Frame) else NAMES[type(item).__name__]
        for item in items
    ]


@given(st.binary(max_size=2000), st.integers(0, 15), st.integers(0, 15))
def test_round_trip(payload: bytes, kind: int, sequence: int) -> None:
    encoded = _core.encode_frame(kind, sequence, payload)
    assert encoded == encode(kind, sequence, payload)
    assert encoded.find(b"\0") == len(encoded) - 1
    assert _core.Decoder().feed(encoded) == [(kind, sequence, payload)]


@pytest.mark.parametrize("size", [*range(248, 260), 507, 508, 509, 510, 65000])
def test_blocks_of_every_length(size: int) -> None:
    rng = random.Random(size)
    for payload in (bytes(size), b"\1" * size, rng.randbytes(size), b"\1" * (size - 1) + b"\0"):
        encoded = _core.encode_frame(3, size, payload)
        assert encoded == encode(3, size, payload)
        assert _core.Decoder().feed(encoded) == [(3, size & 15, payload)]


@given(st.binary(max_size=500), st.lists(st.integers(1, 50)))
def test_portions_do_not_matter(data: bytes, sizes: list[int]) -> None:
    data += encode(1, 2, data)
    parts = _core.Decoder()
    expected = plain(Decoder().feed(data))
    assert _core.Decoder().feed(data) == expected
    found = []
    for size in sizes:
        found += parts.feed(data[:size])
        data = data[size:]
    found += parts.feed(data)
    assert found == expected


def test_the_decoder_is_the_plain_one_on_any_stream() -> None:
    decoder, oracle, rng = _core.Decoder(), Decoder(), random.Random(1)
    errors = frames = 0
    for data in streams(1, STREAMS):
        found = [item for part in portions(rng, data) for item in decoder.feed(part)]
        assert found == plain(oracle.feed(data)), data
        errors += sum(isinstance(item, str) for item in found)
        frames += sum(isinstance(item, tuple) for item in found)
    assert errors > STREAMS // 10
    assert frames > STREAMS // 10
    decoder.feed(b"\0")  # whatever is still open ends here
    assert decoder.feed(encode(5, 9, b"still alive"))[-1] == (5, 9, b"still alive")


def test_messages_are_taken_and_refused_as_by_the_plain_parser() -> None:
    """Each in a frame of its own that is intact, to a session that waits for its test's end."""
    rng = random.Random(4)
    taken = refused = ended = 0
    for number in range(STREAMS // 4):
        kind, payload = _any_reply(rng)
        session = Session(bytes(16))
        session.start(b"abc")
        try:
            parse(kind, payload)
            is_message = True
        except MessageError:
            is_message = False
        try:
            session.receive(encode(kind, number, payload))
        except TargetError:
            assert is_message  # a READY of another image
        if kind != Type.END:  # that may say itself how many it has seen
            assert session.bad_frames == (not is_message), (kind, payload)
        taken, refused = taken + is_message, refused + (not is_message)
        if session.result is not None:
            assert is_message
            _compare(session, payload)
            ended += 1
    assert min(taken, refused, ended) > STREAMS // 100


def _any_reply(rng: random.Random) -> tuple[int, bytes]:
    events = rng.randbytes(rng.randrange(4))
    flags = rng.choice((0, EndFlag.MATCHED, EndFlag.INTACT))
    replies = [
        (Type.READY, ready_message(bytes(16), WIRE_VERSION)),
        (Type.TRACE, piece(1, rng.randrange(1 << 40), b"abc")),
        (Type.LOG, piece(1, 0, b"abc")),
        (Type.COVERAGE, piece(1, 0, bytes(8))),
        (Type.PASSED, piece(1, rng.randrange(300), b"")),
        (Type.NEED_FULL, b"\1"),
        (Type.DAMAGED, b""),
        *[(Type.END, end_message(1, 7, flags, events, events))] * 4,
    ]
    kind, payload = rng.choice(replies)
    return int(kind), mutated(rng, payload) if rng.random() < 0.7 else payload


def _compare(session: Session, payload: bytes) -> None:
    told, found = parse(Type.END, payload), session.result
    assert found is not None
    assert isinstance(told, End)
    assert (VERDICTS[found.verdict], found.code, found.site, found.pc) == (told.verdict, told.code, told.site, told.pc)
    assert (found.address, found.stack, found.flags, found.path_hash) == (
        told.address,
        told.stack,
        told.flags,
        told.path_hash,
    )
    assert (found.operand_hash, found.conditions, found.branches) == (told.operand_hash, told.conditions, told.branches)
    assert found.unchecked == told.unchecked
    assert found.input_used == (3 if told.input_used is None else told.input_used)
    assert session.bad_frames == told.link_errors


def test_the_session_survives_any_stream() -> None:
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
        session.start(b"abc")
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
    decoder = _core.Decoder()
    found = [item for _ in range(20) for item in decoder.feed(b"\1" * (MAX_FRAME // 4))]
    assert found == ["too-long"]
    assert decoder.held <= 2 * MAX_FRAME
    assert decoder.feed(b"\0" + encode(1, 0, b"next"))[-1] == (1, 0, b"next")


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
        data += b"\0" + encode(Type.HELLO, 0, hello())
        out = run_c_side(c_side, "loop", data)
        decoder = Decoder()
        items = [item for part in portions(rng, out) for item in decoder.feed(part)]
        assert not decoder.errors
        kinds = [item.type for item in items if isinstance(item, Frame)]
        assert kinds[0] == kinds[-1] == Type.READY
        assert {Type.END, Type.NEED_FULL, Type.TRACE, Type.LOG, Type.DAMAGED} <= set(kinds)
        for item in items:
            assert isinstance(item, Frame)
            parse(item.type, item.payload)
