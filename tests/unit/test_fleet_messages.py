"""Every message survives the wire; whatever else comes is a DecodeError.

With --all a million mutated frames.
"""

from __future__ import annotations

import random
import resource
import typing
from collections import Counter

import msgspec
import pytest
from proof import STREAMS

from score_embed.fleet import messages as m
from score_embed.fleet.messages import DecodeError, Pair, Peer, Receiver, Result, decode, encode

FRAMES = STREAMS

ONE, OTHER = Peer("board-7", 3), Peer("lab/qemu", 2**40)
PAIR = Pair(b"i" * 16, 9, b"data")
RESULT = Result(b"r" * 16, b"verdict", (PAIR, Pair(b"j" * 16, 2**32 - 1, b"")))
SAMPLES: list[m.Message] = [
    m.Hello(ONE, 0, 1, "tcp://10.0.0.7:9", "pi4: /dev/ttyUSB0", 0, b"h" * 32),
    m.Welcome(ONE, 4, 1, b"", False, b"s" * 32),
    m.Refused(ONE, "the client speaks version 9", "Use the same version. – ümläute"),
    m.Rejoin(ONE, 5, True),
    m.Leave(ONE, False),
    m.Bye(ONE, 5),
    m.Gone(ONE),
    m.Stop(ONE, 1, False),
    m.Results(ONE, 5, 1, 77, 12, (RESULT, RESULT)),
    m.Stored(ONE, 77, (b"x" * 16,), (b"y" * 16,)),
    m.Alive(ONE, 5, 2**63 - 1),
    m.Empty(ONE, 5, 3),
    m.Req(ONE, 5 << 32 | 1, (Receiver(OTHER, "ipc://x", "k" * 40, b"t" * 16), Receiver(Peer("c", 0), ""))),
    m.Pairs(OTHER, 5 << 32 | 1, 1, ONE, (PAIR,), b"t" * 16),
    m.Ack(OTHER, 5, 5 << 32 | 1, ONE, 4, (PAIR.id,), b"markmark"),
    m.Noted(OTHER, 5 << 32 | 1, ()),
    m.Nack(ONE, 5, 5 << 32 | 2, (OTHER,)),
    m.Ask(ONE, 5, 5 << 32 | 1, OTHER, PAIR.id),
    m.Settled(ONE, 5 << 32 | 1, OTHER, True),
]


def test_samples_are_all_kinds() -> None:
    assert {type(sample) for sample in SAMPLES} == set(typing.get_args(m.Message))
    tags = [typing.cast(int, type(sample).__struct_config__.tag) for sample in SAMPLES]
    assert len(set(tags)) == len(tags)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: type(sample).__name__)
def test_round_trip(sample: m.Message) -> None:
    assert decode(encode(sample)) == sample


@pytest.mark.parametrize(
    "bad",
    [
        m.Hello(Peer("", 0), 0, 1, "", "", 0, b""),
        m.Hello(Peer("c" * 65, 0), 0, 1, "", "", 0, b""),
        m.Hello(ONE, -1, 1, "", "", 0, b""),
        m.Hello(ONE, 0, 1, "a" * 1025, "", 0, b""),
        m.Hello(ONE, 0, 1, "", "", 0, b"h" * 33),
        m.Results(ONE, 5, 1, 77, 12, (RESULT,) * (m.MAX_RESULTS + 1)),
        m.Results(ONE, 5, 1, 77, 12, (Result(b"short", b"", ()),)),
        m.Results(ONE, 5, 1, 77, 12, (Result(b"r" * 16, bytes(m.MAX_PAYLOAD + 1), ()),)),
        m.Pairs(OTHER, 1, 1, ONE, (Pair(b"i" * 16, 0, bytes(m.MAX_INPUT + 1)),)),
        m.Pairs(OTHER, 1, 1, ONE, (Pair(b"i" * 16, 2**32, b""),)),
        m.Pairs(OTHER, 1, 1, ONE, (PAIR,) * (m.MAX_PAIRS + 1)),
        m.Pairs(OTHER, 1, 1, ONE, ()),
        m.Req(ONE, 1, ()),
        m.Req(ONE, 1, (Receiver(OTHER, ""),) * (m.MAX_RECEIVERS + 1)),
        m.Stop(ONE, 1, "yes"),  # type: ignore[arg-type]
    ],
    ids=lambda bad: type(bad).__name__,
)
def test_limits(bad: m.Message) -> None:
    with pytest.raises(DecodeError):
        decode(encode(bad))


def test_frames_that_lie() -> None:
    """They announce more than they hold, are too long, nest too deeply, name unknown kinds, or are cut short."""
    whole = encode(SAMPLES[8])
    lies = [
        b"",
        b"\xc1",
        b"\x92\x10\xdd\xff\xff\xff\xff",
        b"\xdd\xff\xff\xff\xff\x10",
        b"\x97\x10\x92\xa1c\x01\x05\x01\x01\x01\xdd\x7f\xff\xff\xff",
        b"\x97\x10\x92\xdb\xff\xff\xff\xffc",
        b"\x91" * 100_000,
        b"\x92\x01\xa1\xff",
        b"\x93\x07\x92\xa1c\x01\xc0",
        b"\x92\x63\x92\xa1c\x01",
        b"\x92\x07\x92\xa2\xff\xfe\x01",
        bytes(m.MAX_FRAME + 1),
        whole + b"\0",
        *(whole[:size] for size in range(len(whole))),
    ]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for lie in lies:
        with pytest.raises(DecodeError):
            decode(lie)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kB


def test_mutated_frames() -> None:
    """A message or a DecodeError, and nothing else. What is a message keeps the limits: it can be sent on."""
    rng = random.Random(1)
    frames = [encode(sample) for sample in SAMPLES]
    found: Counter[str] = Counter()
    for _ in range(FRAMES):
        frame = _mutated(rng, rng.choice(frames))
        try:
            message = decode(frame)
        except DecodeError:
            found["error"] += 1
        else:
            assert decode(encode(message)) == message
            found[type(message).__name__] += 1
    assert found["error"] > FRAMES // 3
    assert len(found) > len(SAMPLES) // 2


def _mutated(rng: random.Random, frame: bytes) -> bytes:
    data = bytearray(frame)
    for _ in range(rng.choice((1, 1, 2, 5))):
        place = rng.randrange(len(data) + 1)
        match rng.randrange(5):
            case 0 if place < len(data):
                data[place] ^= 1 << rng.randrange(8)
            case 1 if place < len(data):
                data[place] = rng.choice(
                    (0, 0x7F, 0x80, 0x90, 0xA0, 0xC0, 0xC4, 0xCF, 0xD9, 0xDB, 0xDC, 0xDD, 0xDF, 0xFF)
                )
            case 2:
                data[place:place] = rng.randbytes(rng.randrange(1, 9))
            case 3:
                del data[place : place + rng.randrange(1, 9)]
            case _:
                data = data[:place] or data
    return bytes(data)


def test_encoding_is_compact() -> None:
    """Control messages are tens of bytes; a result without children about as many as its parts."""
    assert len(encode(m.Empty(ONE, 5, 3))) < 20
    assert len(encode(m.Results(ONE, 5, 1, 77, 12, (Result(b"r" * 16, b"", ()),)))) < 60
    assert msgspec.msgpack.decode(encode(m.Gone(ONE))) == [7, ["board-7", 3]]
