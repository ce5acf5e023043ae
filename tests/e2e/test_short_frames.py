"""What a test tells is the same in frames of any length.

In frames that are too short for it no event is written in one piece (runtime/straight.h), so that this also compares
the pieces with the calls that they stand for.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from corpus import build, target_of
from plain_wire import Coverage, Decoder, End, Frame, Ready, RunMessage, Trace, encode, hello, parse
from runner import BOARDS

from score_embed.contract.wire import Type
from score_embed.device.wired import WiredTarget
from score_embed.link.transport import Line

# Conditions on bytes and halves in globals, on the stack and behind pointers, in activations of very different depth:
# the longest events.
PROGRAM = """
#include "score.h"
#include <string.h>
static unsigned char far_away[3000], bytes[8];
static unsigned short halves[4];
static int found;
static void look(const unsigned char *p, const unsigned short *h)
{
    if (*p > 100) found++;
    if (*h < 300) found += 2;
    if (h[1] == 77 || p[1] == 3) found += 4;
}
static void down(int levels, const unsigned char *p, const unsigned short *h)
{
    unsigned char here[2];
    if (levels) {
        down(levels - 1, p, h);
        return;
    }
    memcpy(here, p, sizeof here);
    look(here, h);
    if (here[1] > 9) found++;
    look(p, h);
}
int main(void)
{
    SYM_BYTES(bytes, sizeof bytes);
    SYM_BYTES(halves, sizeof halves);
    memcpy(far_away + 2990, bytes, 4);
    for (unsigned i = 0; i < 3; i++) {
        look(bytes + i, halves + i % 3);
        down(DEPTH, far_away + 2990 + i, halves);
        if (far_away[2990 + i] < 50) found++;
    }
    return found;
}
"""
INPUT = bytes([101, 7, 250, 3, 0, 50, 9, 1, 44, 1, 77, 0, 255, 255, 1, 1])
DEPTH = {"native": 9000, "mps2-an385": 100}
USUAL = 1 << 12  # bytes, more than all


class Told:
    """A target at the other end of a line."""

    def __init__(self, line: Line) -> None:
        self._line, self._decoder, self._sequence = line, Decoder(), 0
        self._number = 0
        assert any(isinstance(said, Ready) for said in self._say(Type.HELLO, hello(), Ready))

    def events(self, chunk: int) -> tuple[bytes, list[int]]:
        """Of a run whose frames may have so many bytes, and the lengths of these."""
        self._number += 1
        run = RunMessage(self._number, False, INPUT, None, 0, 0, 0, 0, 1_000_000, 10_000, chunk)
        events, lengths = b"", []
        for said in self._say(Type.RUN, run.encode(), End):
            if isinstance(said, Trace):
                assert said.offset == len(events)
                events += said.data
                lengths.append(len(said.data))
            elif isinstance(said, End):
                assert (said.offset or 0) == len(events)
                events += said.tail
        return events, lengths

    def _say(self, kind: Type, payload: bytes, last: type) -> list[object]:
        self._sequence += 1
        deadline = time.monotonic() + 60
        self._line.send(encode(kind, self._sequence & 15, payload), deadline)
        found: list[object] = []
        while not any(isinstance(said, last) for said in found):
            data = self._line.receive(deadline)
            assert data, "no answer"
            for frame in self._decoder.feed(data):
                if isinstance(frame, Frame):
                    found.append(parse(frame.type, frame.payload))
        return [said for said in found if not isinstance(said, Coverage)]


@pytest.mark.parametrize("board", BOARDS)
def test_the_same_events_in_frames_of_any_length(tmp_path: Path, board: str) -> None:
    source = tmp_path / "p.c"
    source.write_text(PROGRAM)
    image = build(board, [source], cflags=[f"-DDEPTH={DEPTH[board]}"])
    with target_of(board, image) as target:
        assert isinstance(target, WiredTarget)
        told = Told(target.raw())
        expected, _ = told.events(0)
        assert 100 < len(expected) < USUAL
        for chunk in range(4, 90):
            events, lengths = told.events(chunk)
            assert events == expected, chunk
            assert len(lengths) > 1
            assert set(lengths) == {chunk}, chunk
