"""What has arrived of one thing that is sent in pieces, over several attempts: on a bad line none may bring it whole.

Runs are deterministic, so pieces of different attempts fit together, whatever their sizes. Whether they really do is
for the reader's CRC to say.
"""

from __future__ import annotations


class Pieces:
    """Bytes by their offset in the whole."""

    def __init__(self) -> None:
        self._whole = bytearray()  # grows in place: a thing of megabytes comes in pieces of 64 KiB and less
        self._later: dict[int, bytes] = {}  # beyond the gap, by offset

    @property
    def whole(self) -> bytes:
        """A copy of what is there from the beginning to the first gap."""
        return bytes(self._whole)

    def __getitem__(self, part: slice) -> bytes:
        """A part of that."""
        return bytes(self._whole[part])

    def clear(self, start: bytes = b"") -> None:
        """Forget all pieces; `start` is known."""
        self._whole = bytearray(start)
        self._later.clear()

    def __len__(self) -> int:
        """All bytes held, those beyond the gap too (where pieces overlap they count twice)."""
        return len(self._whole) + (sum(map(len, self._later.values())) if self._later else 0)

    def add(self, offset: int, data: bytes) -> None:
        """A piece has arrived, perhaps not for the first time."""
        if offset > len(self._whole):
            if len(data) > len(self._later.get(offset, b"")):
                self._later[offset] = data
            return
        self._whole += data[len(self._whole) - offset :]
        while reached := [at for at in self._later if at <= len(self._whole)]:
            for at in reached:
                self._whole += self._later.pop(at)[len(self._whole) - at :]
