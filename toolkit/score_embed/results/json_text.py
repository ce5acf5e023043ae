"""Records as JSON that people and scripts read.

The text is ASCII and indented: any terminal, pipe and tool takes it, also where a file's name is no UTF-8. Python's
own module writes and reads the text, since msgspec's refuses such names; what a record consists of, and its types when
it is read, msgspec says.
"""

from __future__ import annotations

import json
from typing import TypeVar

import msgspec

T = TypeVar("T")


def indented(record: object, indent: int = 2) -> str:
    """`record`: Structs, and what they may consist of."""
    return json.dumps(msgspec.to_builtins(record), indent=indent)


def read(text: bytes, kind: type[T]) -> T:
    """Keys that it does not know are left out. Raises ValueError if it is not JSON of that type."""
    try:
        return msgspec.convert(json.loads(text), kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(str(error)) from error
