"""Values that the program uses as they are in the run, and which of them fork (docs/design/forks.md; the engine's
`concrete.cpp` does it)."""

from __future__ import annotations

MOST_VALUES = 256  # of a value that forks, unless the user says otherwise (--fork-values)


class Forks:
    """`values`: how many a value may have at most to fork; 0: none does. `arguments`: not only addresses and sizes do, but
    also arguments of opaque calls and numbers of types without formulas (128 bits, `long double`)."""

    def __init__(self, values: int = MOST_VALUES, arguments: bool = False) -> None:
        self.values, self.arguments = values, arguments
