"""The function of `--entry`, as a test without score-embed has to call it: the harness says it, the image keeps it, reports use it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Argument(Struct, frozen=True):
    """A parameter of the function: a declaration of an object for it, and what is passed of that object."""

    name: str
    declaration: str
    passed: str
    kind: Literal["number", "bytes", "raw"]  # bytes: unsigned char[]; raw: any object as it lies in memory


class Entry(Struct, frozen=True):
    name: str
    file: str
    arguments: tuple[Argument, ...]
    returns: bool  # an integer, which the harness returns in turn
