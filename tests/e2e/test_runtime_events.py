"""The event stream and the hashes, byte by byte against docs/design/probes.md, on both targets."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from images import LINKS, hand_image, target_of

from score_embed.contract.outcome import Finished, Run
from score_embed.device.wired import WiredTarget


def varint(n: int) -> bytes:
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def zz(n: int) -> bytes:
    return varint(n << 1 if n >= 0 else (-n << 1) - 1)


def event(site: int, direction: int = 0) -> bytes:
    return varint(site << 1 | direction)


def mixed(*numbers: int) -> int:
    a, b, mask = 0x9E3779B9, 0x7F4A7C15, 0xFFFFFFFF
    for x in numbers:
        a = (a ^ x) * 0x85EBCA6B & mask
        a ^= a >> 13
        b = ((b << 5 | b >> 27) + x) * 0xC2B2AE35 & mask
        b ^= b >> 16
    return a | b << 32


def folded(value: int) -> int:
    return (value ^ value >> 32) & 0xFFFFFFFF


HEAD = event(0) + zz(1) + event(17)  # main's activation, and the byte that says what to do


@dataclass
class Hand:
    target: WiredTarget
    elf: Path

    def run(self, what: int, data: bytes = b"", **limits: Any) -> Finished:
        return self.target.run(Run(1, bytes([what]) + data, **limits))

    @property
    def bits(self) -> int:
        with self.elf.open("rb") as file:
            return int(ELFFile(file).elfclass)

    def address(self, name: str) -> int:
        with self.elf.open("rb") as file:
            table = ELFFile(file).get_section_by_name(".symtab")
            assert isinstance(table, SymbolTableSection)
            found = table.get_symbol_by_name(name)
            assert found
            return int(found[0]["st_value"])


Maker = Callable[..., Hand]


@pytest.fixture(scope="module", params=LINKS)
def make(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Maker]:
    made: dict[tuple[str, ...], Hand] = {}

    def maker(*flags: str) -> Hand:
        if flags not in made:
            elf = hand_image(request.param, tmp_path_factory.mktemp("image"), *flags)
            made[flags] = Hand(target_of(request.param, elf), elf)
        return made[flags]

    yield maker
    for hand in made.values():
        hand.target.close()


def call_f_events(x: int, arm: int, verify: bool = False) -> bytes:
    c = int(x > 0)
    out = HEAD + event(30) + event(31) + varint(1)
    out += event(0) + zz(1) + event(21, c) + varint(1) + zz(0) + (zz(c) if verify else b"")
    out += (event(22) if c else b"") + event(23)
    out += event(0) + zz(-1) + event(32) + (zz(x) if verify else b"")
    return out + event(33) + varint(arm) + (zz(x) if verify else b"")


@pytest.mark.parametrize(("x", "arm"), [(7, 1), (1, 0), (12345, 2), (-7, 2)])
def test_calls_conditions_switch(make: Maker, x: int, arm: int) -> None:
    done = make().run(100, struct.pack("<i", x))
    c = int(x > 0)
    assert done.events == call_f_events(x, arm)
    assert done.path_hash == mixed(16 << 1, 20 << 1, 21 << 1 | c, 33 << 1, arm)
    word = x & 0xFFFFFFFF
    assert done.operand_hash == folded(mixed(word, 0, word))
    assert done.conditions == 1 + min(arm + 1, 2)
    assert done.input_used == 5
    assert set(done.coverage) <= {2, 3, 10, 11, 12}


def test_prediction(make: Maker) -> None:
    hand, data = make(), struct.pack("<i", 12345)
    chain = [(21 << 1 | 1,), (33 << 1, 0), (33 << 1, 1)]
    for k in range(4):
        expected = mixed(*(n for condition in chain[:k] for n in condition))
        good = hand.run(100, data, predicted=k, condition_hash=expected)
        assert (good.condition_match, good.events) == (True, call_f_events(12345, 2))
        bad = hand.run(100, data, predicted=k, condition_hash=expected ^ 1)
        if k:
            assert (bad.condition_match, bad.events, bad.path_hash) == (False, b"", good.path_hash)
    longer = hand.run(100, data, predicted=4, condition_hash=mixed())
    assert not longer.condition_match


def test_verify_images_send_values(make: Maker) -> None:
    assert make("-DSC_VERIFY").run(100, struct.pack("<i", 7)).events == call_f_events(7, 1, verify=True)


def test_partly_tainted_overlapping_copy_clear(make: Maker) -> None:
    hand = make()
    at = hand.address("object")
    value = struct.unpack("<i", bytes([0x81, 9, 0xF0, 0x81]))[0]
    expected = HEAD + event(35) + zz(at + 1) + varint(2)
    expected += event(36) + varint(2) + zz(-1) + varint(0b0110) + zz(value)
    expected += event(37) + zz(2) + zz(-2) + varint(4)
    expected += event(42, 1) + zz(3)  # what was byte 1 is tainted at 3; what was byte 0 is not, at 2
    expected += event(41)
    done = hand.run(101, bytes([9, 0xF0]))
    assert done.events == expected
    assert done.output == b""


def test_opaque_writes_are_found_and_untainted(make: Maker) -> None:
    hand = make()
    at = hand.address("object")
    expected = HEAD + event(30) + event(34)
    expected += event(3) + varint(38)
    expected += event(2) + varint(38) + zz(at + 5) + varint(1) + event(2) + varint(38) + zz(35) + varint(1)
    expected += event(38) + zz(-50)
    done = hand.run(102, struct.pack("<i", -100) + bytes(64))
    assert done.events == expected
    assert done.output == b"6\n"


def test_callback_from_opaque_code(make: Maker) -> None:
    hand = make()
    at = hand.address("object")
    expected = HEAD + event(30) + event(34)
    # Said when the callback is entered: what the opaque code was given, and what it has changed until then.
    expected += event(3) + varint(38) + event(2) + varint(38) + zz(at) + varint(1)
    expected += event(2) + varint(38) + zz(33) + varint(1)
    expected += event(38) + zz(77)
    assert hand.run(103, struct.pack("<i", 77) + bytes(64)).events == expected


def test_a_run_that_lacks_input_tells_no_events(make: Maker) -> None:
    """It runs again with as much as it asks for."""
    done = make().run(103, struct.pack("<i", 77))
    assert (done.events, done.condition_match, done.input_used) == (b"", False, 69)


def test_store_beyond_the_map_is_lost(make: Maker) -> None:
    done = make().run(104, bytes(4))
    address = 0x7F0000000000 if make().bits == 64 else 0x40000000
    assert done.events == HEAD + event(30) + event(5) + varint(40) + event(40) + zz(address)


def test_a_long_stream_in_many_chunks_and_elision(make: Maker) -> None:
    target = make().target
    data = bytes([105])
    conditions = [43 << 1 | i & 1 for i in range(20000)]
    whole = HEAD + bytes(conditions)
    done = target.run(Run(1, data))
    assert (done.events, done.conditions) == (whole, 20000)

    def result(prefix: bytes, predicted: int = 0) -> tuple[bytes, int, int]:
        before = target.counters
        done = target.run(Run(1, data, predicted, mixed(*conditions[:predicted]), prefix=prefix))
        assert done.condition_match
        after = target.counters
        return done.events, after.bytes_in - before.bytes_in, after.reruns - before.reruns

    for size in (1, 1023, 4096, 10001, len(whole)):
        events, received, reruns = result(whole[:size], predicted=1000)
        assert (events, reruns) == (whole, 0)
        assert received < len(whole) - size + 3000
    for wrong in (b"\x01" * 5000, whole + b"!", whole[:-1] + b"!"):
        events, _, reruns = result(wrong)
        assert (events, reruns) == (whole, 1)
