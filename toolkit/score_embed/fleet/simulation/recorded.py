"""The tree of a real campaign for the simulator: which test brought which others, at what depth, and what each took.

A tree is kept as a few lists of small numbers in compressed JSON.
"""

from __future__ import annotations

import gzip
import zlib
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from score_embed.errors import UsageError
from score_embed.fleet.messages import Pair, Result
from score_embed.fleet.simulation.trees import DATA, digest

VERSION = 1
# What reading any other file ends with.
_MOST = 512 << 20  # bytes of a recording
_NOT_OURS = (OSError, EOFError, zlib.error, msgspec.MsgspecError, UnicodeDecodeError, RecursionError)

Small = Annotated[int, Meta(ge=0, lt=2**32)]
Time = Annotated[int, Meta(ge=1, lt=2**32)]


class Recording(Struct, frozen=True, forbid_unknown_fields=True, tag_field="v", tag=VERSION):
    """A campaign's tests in the order in which they were run. All lists have an entry for each test."""

    program: str
    board: str
    strategy: str
    complete: bool  # the campaign was explored to its end
    back: list[Small]  # how many tests before it the one was run that brought it; 0 for the first
    depth: list[Small]  # conditions of its path that are not flipped
    microseconds: list[Time]  # on the target and for deriving others, to two digits

    @property
    def tests(self) -> int:
        return len(self.back)

    @property
    def mean(self) -> float:
        """Seconds of a test."""
        return sum(self.microseconds) / self.tests / 1e6

    @property
    def longest(self) -> float:
        """Seconds of the longest chain of tests of which each was brought by the one before: no fleet is faster."""
        ends: list[int] = []
        for place, (back, took) in enumerate(zip(self.back, self.microseconds, strict=True)):
            ends.append(took + (ends[place - back] if back else 0))
        return max(ends) / 1e6

    @property
    def width(self) -> float:
        """How many clients could be at work on average, if handing over cost nothing."""
        return self.mean * self.tests / self.longest if self.longest else 1.0

    def to_bytes(self) -> bytes:
        return gzip.compress(msgspec.json.encode(self), mtime=0)

    @staticmethod
    def from_bytes(data: bytes, name: str) -> Recording:
        """Raises UsageError if this is no recording. `name`: of the file."""
        hint = "Make it with: score-embed fleet record DIR"
        try:
            found = msgspec.json.decode(_plain(data), type=Recording)
        except _NOT_OURS as error:
            raise UsageError("this is not the recorded tree of a campaign", name, hint) from error
        if not found._makes_sense():
            raise UsageError("this recorded tree is damaged, or of another version", name, hint)
        return found

    def _makes_sense(self) -> bool:
        sizes = {len(self.back), len(self.depth), len(self.microseconds)}
        if sizes != {self.tests} or not self.tests:
            return False
        return all(0 < back <= place if place else back == 0 for place, back in enumerate(self.back))


def _plain(data: bytes) -> bytes:
    """What was packed, as far as it is not more than a recording is. Raises zlib.error."""
    unpacking = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    plain = unpacking.decompress(data, _MOST)
    if not unpacking.eof:
        raise zlib.error
    return plain


class RecordedTree:
    """A recording as the simulator explores it. A pair's data says which test it is."""

    def __init__(self, recording: Recording, seed: int) -> None:
        self.tests, self.seed = recording.tests, seed
        self._recording = recording
        self._children: list[list[int]] = [[] for _ in range(self.tests)]
        for place, back in enumerate(recording.back):
            if back:
                self._children[place - back].append(place)
        for children in self._children:
            children.sort(key=lambda place: (recording.depth[place], place))
        self.first = self._pair(0)

    def run(self, pair: Pair) -> Result:
        """What the test of this pair brought."""
        place, _ = DATA.unpack_from(pair.data)
        return Result(pair.id, b"", tuple(map(self._pair, self._children[place])))

    def seconds(self, pair: Pair, mean: float) -> float:
        """As recorded, in proportion to the others."""
        place: int = DATA.unpack_from(pair.data)[0]
        return mean * self._recording.microseconds[place] / (1e6 * self._recording.mean)

    def _pair(self, place: int) -> Pair:
        ident = digest(b"recorded %d" % self.seed, place)
        return Pair(ident, self._recording.depth[place], DATA.pack(place, self.seed))


def two_digits(microseconds: float) -> int:
    """Rounded, so that files are small; one at least."""
    return max(1, int(float(f"{microseconds:.1e}")))
