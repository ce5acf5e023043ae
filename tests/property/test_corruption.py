"""No damaged frame is taken for a good one, and whatever a bad line does to a campaign's frames, its results are those
of a good line.

With --all each test damages a million frames.
"""

from __future__ import annotations

import random
import zlib
from dataclasses import dataclass
from pathlib import Path

import pytest
from cobs import cobs
from plain_wire import INTACT, Request, encode
from proof import STREAMS
from wire import Lockstep, build_c_side, damaged, run_c_side, target_frame, valid_frame

from score_embed.contract.wire import EndFlag
from score_embed.engine._core import Decoder
from score_embed.errors import TargetError
from score_embed.link.session import Result, Session
from score_embed.simulate.noise import Wire
from score_embed.simulate.scenario import Scenario

MARK = 7  # the type of frames that stand between those of the test
PROOF = 1_000_000  # from so many on 16 bits of CRC would certainly let some through
BUILD_ID = bytes(range(16))
INPUTS = 200  # different inputs of a campaign: bytes, each a path of its own


@pytest.fixture(scope="module")
def c_side(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_c_side(tmp_path_factory.mktemp("wire"))


def sent_and_damaged(rng: random.Random) -> tuple[list[tuple[int, int, bytes] | str], bytes]:
    """Two frames, and what arrived of the first and the end of the second; never all of the first."""
    while True:
        make = rng.choice((valid_frame, target_frame))
        sent, other = make(rng), make(rng)
        arrived = damaged(rng, sent, other)
        if arrived.strip(b"\0") != sent.strip(b"\0"):
            return Decoder().feed(sent) + Decoder().feed(other), arrived


def test_the_host_takes_no_damaged_frame() -> None:
    rng = random.Random(11)
    decoder = Decoder()
    weaker = errors = 0
    for _ in range(STREAMS):
        good, arrived = sent_and_damaged(rng)
        # One may be whole: only bytes around it were damaged.
        taken = [item for item in decoder.feed(b"\0" + arrived + b"\0") if isinstance(item, tuple)]
        assert all(item in good for item in taken), (good, arrived)
        errors += not taken
        weaker += any(map(half_a_crc_is_right, arrived.split(b"\0")))
    assert errors > STREAMS * 0.9
    assert weaker or STREAMS < PROOF


def described(item: tuple[int, int, bytes]) -> list[str]:
    """As the C side prints it."""
    kind, _, payload = item
    return [str(kind), str(len(payload)), str(zlib.crc32(payload))]


def half_a_crc_is_right(part: bytes) -> bool:
    """What a check of 16 bits would have let through."""
    try:
        body = cobs.decode(part)
    except cobs.DecodeError:
        return False
    return len(body) > 5 and zlib.crc32(body) & 0xFFFF == INTACT & 0xFFFF != zlib.crc32(body)


def test_the_target_takes_no_damaged_frame(c_side: Path) -> None:
    rng = random.Random(12)
    for _ in range(max(1, STREAMS // 50_000)):
        originals, line = [], []
        for number in range(min(STREAMS, 50_000)):
            good, arrived = sent_and_damaged(rng)
            originals.append([described(item) for item in good if isinstance(item, tuple)])
            line += [b"\0", arrived, b"\0", encode(MARK, 0, number.to_bytes(4, "little"))]
        number = errors = 0
        for words in map(str.split, run_c_side(c_side, "frames", b"".join(line)).decode().splitlines()):
            if words[0] == "E":
                errors += 1
            elif int(words[1]) == MARK:
                number += 1
            else:
                assert words[1:] in originals[number]
        assert number == len(originals)
        assert errors > number * 0.9


@dataclass
class Board:
    """The runtime's loop at the end of a line with these errors, and the host's session with it."""

    target: Lockstep
    session: Session
    to_board: Wire
    to_host: Wire

    @classmethod
    def connect(cls, c_side: Path, scenario: Scenario) -> Board:
        board = cls(Lockstep(c_side), Session(BUILD_ID), Wire(scenario, 0), Wire(scenario, 1))
        board.session.receive(board.target.first)
        board.bring(board.session.hello(), lambda: board.session.ready is not None)
        return board

    def bring(self, out: bytes, done: object) -> None:
        """Exchange bytes until `done` says so; silence is answered by a nudge."""
        assert callable(done)
        while not done():
            self.to_board.put(out, 0.0)
            self.to_host.put(self.target.exchange(self.to_board.take(0.0)), 0.0)
            out = self.session.receive(self.to_host.take(0.0))
            if not out and not done():
                out = self.session.nudge()

    def run(self, request: Request) -> Result:
        self.bring(self.session.start(*request), lambda: self.session.result is not None)
        assert self.session.result is not None
        return self.session.result


def outcome(result: Result) -> tuple[object, ...]:
    """Without what differs from attempt to attempt."""
    flags = result.flags & ~(EndFlag.CHUNKED | EndFlag.EXTRAS)
    ended = (flags, result.verdict, result.code, result.site, result.pc, result.address, result.stack)
    counted = (
        result.path_hash,
        result.operand_hash,
        result.conditions,
        result.branches,
        result.unchecked,
        result.input_used,
    )
    return (*ended, *counted, result.events, result.output)


def test_a_campaign_over_a_bad_line_has_the_results_of_a_good_one(c_side: Path) -> None:
    good = Board.connect(c_side, Scenario())
    expected = [good.run(Request(bytes((value,)))) for value in range(INPUTS)]
    covered = set[int]()
    assert len({result.path_hash for result in expected}) == INPUTS
    assert good.session.bad_frames == 0
    good.target.close()

    rng = random.Random(13)
    bad = Board.connect(c_side, Scenario(bit_errors=0.012, dropped=0.004, inserted=0.004, seed=14))
    tests = given_up = 0
    while bad.session.bad_frames < STREAMS:
        value = rng.randrange(INPUTS)
        events = expected[value].events
        prefix = events[: rng.randrange(len(events) + 1)]
        if prefix and rng.random() < 0.1:
            prefix = prefix[:-1] + bytes((prefix[-1] ^ 1,))  # what the host expects may be wrong
        try:
            result = bad.run(Request(bytes((value,)), prefix=prefix))
        except TargetError:
            given_up += 1
            continue
        tests += 1
        assert outcome(result) == outcome(expected[value])
        covered |= set(result.coverage)
    bad.target.close()
    assert tests > STREAMS // 100
    assert given_up <= tests // 1000
    assert covered == {index for index in covered if index < 40}
