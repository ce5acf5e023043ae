"""Messages, the generated C header, the session's answers to what can go wrong."""

from __future__ import annotations

import random
import re
import time
import zlib

import pytest
from images import RUNTIME
from plain_wire import BadSequence, Decoder, Frame, Request, difference, encode
from wire import end_message, piece, ready_message

from score_embed.contract import wire as constants
from score_embed.contract.header import COMMAND, engine_header, header
from score_embed.contract.outcome import Verdict
from score_embed.contract.wire import WIRE_VERSION, Capability, EndFlag, RunFlag, Type
from score_embed.contract.words import Note
from score_embed.engine._core import MAX_ATTEMPTS, MAX_REFUSALS
from score_embed.errors import TargetError
from score_embed.link.session import Session

BUILD_ID = bytes(range(16))


def test_what_c_and_python_share_is_current() -> None:
    assert (RUNTIME / "contract.h").read_text() == header(), f"run: {COMMAND}"
    assert (RUNTIME.parent / "toolkit/engine/src/contract.hpp").read_text() == engine_header(), f"run: {COMMAND}"


def test_the_engine_repeats_no_word_of_the_contract() -> None:
    """Each text of a note stands in the generated header, and nowhere else in C++."""
    for path in sorted((RUNTIME.parent / "toolkit/engine/src").glob("*.[ch]pp")):
        if path.name != "contract.hpp":
            text = path.read_text(encoding="utf-8")
            assert not [note for note in Note if f'"{note}"' in text], path


def test_the_runtime_repeats_no_number_of_the_contract() -> None:
    """Each name of the generated header is given its value there, and nowhere else in C."""
    given = re.compile(r"^(?:#define (SC_\w+) |    (SC_\w+) = )", re.MULTILINE)
    names = {one or other for one, other in given.findall(header())}
    assert {"SC_FLOATS", "SC_MAX_LEAVES", "SC_VERDICT_OVERFLOW", "SC_EVENT_LOST"} <= names
    for path in sorted(RUNTIME.rglob("*.[ch]")):
        if path.name != "contract.h":
            text = path.read_text(encoding="utf-8")
            again = re.findall(r"#define (SC_\w+)|\b(SC_\w+) = [0-9]", text)
            assert not names.intersection(name for pair in again for name in pair), path


def test_every_verdict_has_its_number() -> None:
    assert {*constants.VERDICTS, *constants.HOST_VERDICTS} == set(Verdict)


def take_varint(data: bytes, at: int) -> tuple[int, int]:
    n = shift = 0
    while True:
        byte, at = data[at], at + 1
        n |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return n, at


def apply(base: bytes, diff: bytes, size: int) -> bytes:
    out, at, done = bytearray(base.ljust(size, b"\0")), 0, 0
    while done < len(diff):
        skip, done = take_varint(diff, done)
        count, done = take_varint(diff, done)
        at += skip
        out[at : at + count] = diff[done : done + count]
        at, done = at + count, done + count
    return bytes(out)


def parse_run(payload: bytes) -> tuple[dict[str, int], bytes]:
    """A RUN's fields, and the difference."""
    number, flags = payload[:2]
    run = {"number": number, "flags": flags & ~RunFlag.ACKNOWLEDGED, "ack": int(bool(flags & RunFlag.ACKNOWLEDGED))}
    at = 2

    def fixed(name: str, size: int) -> None:
        nonlocal at
        run[name], at = int.from_bytes(payload[at : at + size], "little"), at + size

    def variable(name: str) -> None:
        nonlocal at
        run[name], at = take_varint(payload, at)

    run |= {"e": 0, "ecrc": 0, "chunk": CHUNK}
    fixed("crc", 4)
    if flags & RunFlag.FULL:
        for name in ("size", "branches", "ms"):
            variable(name)
    if flags & RunFlag.PREDICTED:
        variable("k")
        fixed("hash", 2)
    if flags & RunFlag.ELIDED:
        variable("e")
        fixed("ecrc", 2)
    if flags & RunFlag.SHORT:
        variable("chunk")
    return run, payload[at:]


def test_differences() -> None:
    rng = random.Random(5)
    for size in (0, 1, 2, 100, 65535, 70000, 200000):
        base = rng.randbytes(size)
        for changes in (0, 1, 2, 10):
            data = bytearray(base)
            for _ in range(changes if size else 0):
                data[rng.randrange(size)] ^= 1 + rng.randrange(255)
            diff = difference(base, bytes(data))
            assert apply(base, diff, size) == data
            assert len(diff) <= changes * 5
        assert apply(b"", difference(None, base), size) == base


CHUNK = 8


class FakeTarget:
    """The target's side, in Python: answers RUN with a fixed trace; `faults` spoil one attempt each."""

    def __init__(self, events: bytes = b"events of this test", faults: tuple[str, ...] = ()) -> None:
        self.events, self.faults = events, list(faults)
        self.held: bytes | None = None
        self.runs: list[dict[str, int]] = []
        self.decoder, self.sequence = Decoder(), 0

    def frame(self, kind: Type, payload: bytes) -> bytes:
        self.sequence += 1
        return encode(kind, self.sequence, payload)

    def ready(self, build_id: bytes = BUILD_ID, version: int = WIRE_VERSION) -> bytes:
        return self.frame(Type.READY, ready_message(build_id, version, chunk=CHUNK))

    def answer(self, data: bytes) -> bytes:
        out = b""
        for item in self.decoder.feed(data):
            if not isinstance(item, Frame):
                out += b"" if isinstance(item, BadSequence) else self.frame(Type.DAMAGED, b"")
            elif item.type == Type.HELLO:
                out += self.ready()
            elif item.type == Type.RUN:
                out += self.run(item.payload)
            elif item.type == Type.AGAIN:
                out += self.end if item.payload == self.number else self.frame(Type.NEED_FULL, item.payload)
        return out

    def run(self, payload: bytes) -> bytes:
        run, diff = parse_run(payload)
        self.runs.append(run)
        number, full = run["number"], run["flags"] & RunFlag.FULL
        self.number = bytes((number,))
        fault = self.faults.pop(0) if self.faults else ""
        held = apply(b"" if full else self.held or b"", diff, run["size"] if full else len(self.held or b""))
        if zlib.crc32(held) != run["crc"] or fault == "forgot":
            self.held = None
            return self.frame(Type.NEED_FULL, self.number)
        self.held = held
        events, e = self.events, run["e"]
        failed = (zlib.crc32(events[:e]) & 0xFFFF) != run["ecrc"] or len(events) < e
        out, at, chunk = b"", e, run["chunk"]
        while not failed and len(events) - at > chunk:
            if not (fault == "chunk" and at <= 8 < at + chunk):
                out += self.frame(Type.TRACE, piece(number, at, events[at : at + chunk]))
            at += chunk
        indices = bytes([1, 0, 0, 0, 7, 0, 0, 0])
        coverage = self.frame(Type.COVERAGE, piece(number, 0, indices))
        flags, tail = int(EndFlag.MATCHED), events[at:]
        if failed:
            flags, tail = flags | EndFlag.ELISION_FAILED, b""
        end = self.frame(Type.END, end_message(number, 111, flags, events, tail, coverage=2))
        self.end = coverage + end
        return out + {"end": b"", "coverage": end}.get(fault, coverage + end)


def connected(target: FakeTarget) -> Session:
    session = Session(BUILD_ID)
    session.receive(target.answer(session.hello()))
    assert session.ready is not None
    return session


def play(session: Session, target: FakeTarget, request: Request) -> None:
    out = session.start(*request)
    for _ in range(100):
        out = session.receive(target.answer(out))
        if session.result:
            return
        out = out or session.nudge()
    raise AssertionError("the session does not end")


@pytest.mark.parametrize("faults", [(), ("chunk",), ("end",), ("coverage",), ("chunk", "end", "coverage", "chunk")])
def test_result_is_whole_whatever_is_missing(faults: tuple[str, ...]) -> None:
    target = FakeTarget(faults=faults)
    session = connected(target)
    play(session, target, Request(b"input"))
    result = session.result
    assert result is not None
    assert (result.events, result.coverage, result.path_hash) == (target.events, (1, 7), 111)
    assert target.held == b"input"
    if "chunk" in faults:
        assert target.runs[1]["e"] == 8  # only what was missing is asked for
        assert session.reruns == len(target.runs) - 1 == 1


def test_inputs_travel_as_differences_and_whole_when_asked() -> None:
    target = FakeTarget(faults=("", "", "forgot"))
    session = connected(target)
    for data in (b"a long input of which little changes", b"a long input of which little Changes", b"x" * 36):
        play(session, target, Request(data))
        assert target.held == data
    assert [run["flags"] for run in target.runs] == [1, 0, 0, 1]
    assert [run["ack"] for run in target.runs][:3] == [0, 1, 1]


@pytest.mark.parametrize("prefix", [b"events of", b"something else", b"events of this test and more"])
def test_elided_prefix(prefix: bytes) -> None:
    target = FakeTarget()
    session = connected(target)
    play(session, target, Request(b"", prefix=prefix))
    assert session.result is not None
    assert session.result.events == target.events
    assert len(target.runs) == (1 if target.events.startswith(prefix) else 2)


def test_a_hopeless_link_is_given_up() -> None:
    target = FakeTarget(bytes(8 * 100), faults=("chunk",) * 200)
    with pytest.raises(TargetError, match=f"{MAX_ATTEMPTS} attempts"):
        play(connected(target), target, Request(b""))
    assert len(target.runs) <= MAX_ATTEMPTS + 2


def test_a_line_that_only_works_one_way_is_given_up() -> None:
    session = connected(FakeTarget())
    session.start(b"")
    for number in range(MAX_REFUSALS - 1):
        assert session.receive(encode(Type.DAMAGED, number, b""))
    with pytest.raises(TargetError, match=f"arrived damaged {MAX_REFUSALS} times"):
        session.receive(encode(Type.DAMAGED, MAX_REFUSALS, b""))


def test_a_program_that_never_does_the_same_twice_is_given_up() -> None:
    target = FakeTarget(faults=("chunk",) * 200)
    session = connected(target)
    out = session.start(b"")

    def exchange(out: bytes) -> None:
        for number in range(200):
            target.events = bytes([number]) * 40
            out = session.receive(target.answer(out))

    with pytest.raises(TargetError, match=f"{MAX_ATTEMPTS} attempts"):
        exchange(out)


def test_refusals_say_what_was_found_and_expected() -> None:
    target = FakeTarget()
    with pytest.raises(TargetError, match=bytes(16).hex()) as caught:
        Session(BUILD_ID).receive(target.ready(bytes(16)))
    assert BUILD_ID.hex() in caught.value.what
    assert caught.value.hint
    with pytest.raises(TargetError, match="version 9"):
        Session(BUILD_ID).receive(target.ready(version=9))


def test_a_restart_during_a_test_is_seen() -> None:
    target = FakeTarget()
    session = connected(target)
    session.start(b"")
    booted = ready_message(BUILD_ID, WIRE_VERSION, Capability.BOOTED)
    session.receive(target.ready())
    assert not session.restarted
    session.receive(encode(Type.READY, 0, booted))
    assert session.restarted


def test_late_answers_are_ignored() -> None:
    target = FakeTarget()
    session = connected(target)
    play(session, target, Request(b"one"))
    stale = target.end
    session.start(b"two")
    session.receive(stale)
    assert session.result is None


class Noise:
    """Changes each byte with a probability, in both directions."""

    def __init__(self, seed: int, rate: float) -> None:
        self.rng, self.rate = random.Random(seed), rate

    def __call__(self, data: bytes) -> bytes:
        return bytes(b ^ self.rng.randrange(1, 256) if self.rng.random() < self.rate else b for b in data)


def play_over(noise: Noise, session: Session, target: FakeTarget, request: Request) -> int:
    """Returns how often the session had to be nudged."""
    out, nudges = session.start(*request), 0
    while session.result is None:
        out = session.receive(noise(target.answer(noise(out))))
        if not out and session.result is None:
            out = session.nudge()
            nudges += 1
    return nudges


def test_what_is_long_comes_through_a_bad_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """A trace of 3 kB in frames of 256 bytes never arrives as it is when 1 % of the bytes are damaged."""
    monkeypatch.setattr("test_link.CHUNK", 256)
    rng, noise = random.Random(7), Noise(8, 0.01)
    target = FakeTarget()
    session = connected(target)
    sizes = []
    for number in range(60):
        target.events = rng.randbytes(3000)
        play_over(noise, session, target, Request(rng.randbytes(60)))
        assert session.result is not None
        assert session.result.events == target.events, number
        assert session.result.coverage == (1, 7)
        sizes.append(target.runs[-1]["chunk"])
    assert session.bad_frames > 1000
    assert min(sizes) == 16
    noise.rate = 0
    for _ in range(100):
        play_over(noise, session, target, Request(b"quiet"))
    assert target.runs[-1]["chunk"] == 256  # the line is good again


def test_many_pieces_are_put_together_in_linear_time() -> None:
    session, piece_of, count = connected(FakeTarget()), bytes(range(256)), 40_000
    session.start(b"")
    began = time.process_time()
    for number in range(count):
        session.receive(encode(Type.TRACE, number, piece(1, number * len(piece_of), piece_of)))
    assert time.process_time() - began < 10  # with a new copy at each piece: half a minute
    assert session.known[0] == piece_of * count


def test_pieces_come_in_any_order_and_more_than_once() -> None:
    rng, whole = random.Random(9), bytes(range(256)) * 4
    for _ in range(50):
        session = connected(FakeTarget())
        session.start(b"")
        places = [(at, rng.randrange(1, 40)) for at in range(0, len(whole), 20)] + [
            (at, 20) for at in range(0, len(whole), 20)
        ]
        rng.shuffle(places)
        for number, (at, size) in enumerate(places):
            session.receive(encode(Type.TRACE, number, piece(1, at, whole[at : at + size])))
        assert session.known[0] == whole
        assert session.held == len(whole)


def test_answers_to_other_attempts_are_of_no_use() -> None:
    target = FakeTarget()
    session = connected(target)
    out = session.start(b"one")
    for kind in (Type.TRACE, Type.COVERAGE, Type.LOG):
        session.receive(encode(kind, 0, piece(7, 0, b"from the past")))
    session.receive(encode(Type.PASSED, 0, bytes([7, 3])))
    assert session.known == (b"", (), b"", ())
    assert session.held == 0
    assert session.receive(encode(Type.NEED_FULL, 0, b"\7")) == b""
    late = session.late
    session.receive(encode(Type.END, 0, end_message(7, 1, EndFlag.MATCHED, b"", b"")))
    assert (session.result, session.late) == (None, late + 1)
    session.receive(target.answer(out))
    assert session.result is not None
    assert session.result.events == target.events


def test_where_an_eager_test_came_by() -> None:
    session = connected(FakeTarget())
    session.start(b"", tell_from=0)
    session.receive(encode(Type.PASSED, 0, bytes([1, 5])))
    session.receive(encode(Type.TRACE, 1, piece(1, 0, b"abc")))
    session.receive(encode(Type.PASSED, 2, bytes([1, 9])))
    session.receive(encode(Type.PASSED, 3, bytes([1, 6])))
    assert session.known == (b"abc", (3,), b"", ((2, 0), (4, 3)))  # even: an index of coverage; odd: a site
    assert session.held == 6
    session.start(b"")
    assert not any(session.known)


def test_where_it_came_by_is_no_progress_of_another_attempt() -> None:
    """A target that has overwritten what it holds says more each time, and its events never come whole."""
    session = connected(FakeTarget())
    session.start(b"", tell_from=0)

    def attempts() -> None:
        for number in range(1, 200):
            for at in range(number):
                session.receive(encode(Type.PASSED, 0, bytes([number, 2 * at % 128])))
            session.receive(encode(Type.END, 0, end_message(number, 1, EndFlag.MATCHED, b"abcdefgh", b"h")))
            assert session.held == 1, "the last event: what the attempt said is forgotten"

    with pytest.raises(TargetError, match=f"{MAX_ATTEMPTS} attempts"):
        attempts()


def test_damage_outside_a_test() -> None:
    """Before READY a target that heard nonsense is greeted again; when no test runs, it is left alone."""
    damaged = encode(Type.DAMAGED, 0, b"")
    session, target = Session(BUILD_ID), FakeTarget()
    session.hello()
    assert target.answer(session.receive(damaged))
    session = connected(target)
    assert session.receive(damaged) == b""
    play(session, target, Request(b"x"))
    assert session.receive(damaged) == b""


def test_new_limits_are_told_with_the_whole_input() -> None:
    target = FakeTarget()
    session = connected(target)
    for branches, ms in ((50, 10), (50, 10), (60, 10), (60, 20), (60, 20)):
        play(session, target, Request(b"input", max_branches=branches, watchdog_ms=ms))
    assert [run["flags"] for run in target.runs] == [1, 0, 1, 1, 0]
    assert [(run.get("branches"), run.get("ms")) for run in target.runs if run["flags"]] == [
        (50, 10),
        (60, 10),
        (60, 20),
    ]


def test_doubts_end_with_the_next_request() -> None:
    target = FakeTarget()
    session = connected(target)
    out = session.start(b"")
    assert not session.doubtful
    frame = target.frame(Type.TRACE, piece(1, 0, b"abc"))
    session.receive(frame[:4])
    assert session.doubtful  # it ended in the middle
    session.receive(frame[4:])
    assert not session.doubtful
    spoilt = bytearray(target.frame(Type.TRACE, piece(1, 3, b"def")))
    spoilt[3] ^= 0x55
    session.receive(bytes(spoilt))
    assert session.doubtful
    assert session.nudge() != out  # asks for the END, does not run again
    assert not session.doubtful


def test_what_was_printed_is_whole_and_no_longer_than_told() -> None:
    target = FakeTarget()
    session = connected(target)
    session.start(b"")
    end = end_message(1, 1, EndFlag.MATCHED, b"e", b"e", log=5)
    session.receive(encode(Type.LOG, 0, piece(1, 0, b"hel")))
    again = session.receive(encode(Type.END, 1, end))
    assert session.result is None  # two bytes are missing
    assert session.reruns == 1
    (run,) = Decoder().feed(again)
    assert isinstance(run, Frame)
    number = run.payload[0]
    session.receive(encode(Type.LOG, 2, piece(number, 3, b"lo and more")))
    session.receive(encode(Type.END, 3, bytes([number]) + end[1:]))
    assert session.result is not None
    assert session.result.output == b"hello"


def test_payloads_grow_after_sixteen_clean_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("test_link.CHUNK", 64)
    target = FakeTarget(bytes(200), faults=("chunk",))
    session = connected(target)
    for _ in range(33):
        play(session, target, Request(b"x"))
    # The test that was damaged is the first clean one of its second attempt.
    assert [run["chunk"] for run in target.runs] == [64] + [16] * 16 + [32] * 16 + [64]


def test_what_is_refused_now_and_then_goes_on() -> None:
    """Refusals count since something new arrived."""
    session = connected(FakeTarget())
    session.start(b"")
    for turn in range(3):
        for _ in range(MAX_REFUSALS - 1):
            assert session.receive(encode(Type.DAMAGED, 0, b""))
        number = session_number(session.nudge())
        session.receive(encode(Type.TRACE, 0, piece(number, turn, b"x")))
        assert session.receive(encode(Type.NEED_FULL, 0, bytes([number])))


def session_number(out: bytes) -> int:
    (again,) = Decoder().feed(out)
    assert isinstance(again, Frame)
    return again.payload[0]
