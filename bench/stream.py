"""Query streams: the questions of a real campaign in order, with the path that each stands on.

One JSON value a line. `["node", kind, width, value, argument…]` defines the next formula (arguments by number),
`["table", width, name, index, entry…]` one that reads a table (entries where the name comes first); `["ask", keep,
[condition…], target, input]` asks for `target` on a path that shares its first `keep` conditions with that of the
question before. So a solver that follows the path sees the same path as in the campaign.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO
from unittest.mock import patch

from score_embed.campaign import worker
from score_embed.cli.main import main
from score_embed.formula.expr import Expr, Kind, TableRead, intern, intern_table, nodes
from score_embed.solve.chain import Chain, default_chain
from score_embed.solve.query import Answer, Query, Solver


class Question(NamedTuple):
    """One question as it was asked."""

    keep: int  # conditions shared with the question before
    path: list[Expr]
    target: Expr
    data: bytes


class _Writer:
    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._numbers: dict[Expr, int] = {}  # keeps all formulas alive: a recording is short
        self._path: list[Expr] = []
        self._tables: set[int] = set()

    def ask(self, path: list[Expr], target: Expr, data: bytes) -> None:
        keep = 0
        for old, new in zip(self._path, path, strict=False):
            if old is not new:
                break
            keep += 1
        conditions = [self._number(condition) for condition in path[keep:]]
        self._line("ask", keep, conditions, self._number(target), data.hex())
        self._path = path

    def _number(self, formula: Expr) -> int:
        for node in nodes([formula]):
            if node not in self._numbers:
                self._numbers[node] = len(self._numbers)
                arguments = [self._numbers[arg] for arg in node.args]
                if isinstance(node, TableRead):
                    self._line("table", node.width, node.value, *arguments, *self._entries(node))
                else:
                    self._line("node", int(node.kind), node.width, node.value, *arguments)
        return self._numbers[formula]

    def _entries(self, node: TableRead) -> tuple[int, ...]:
        """Those of a table that was not written yet."""
        known = node.value in self._tables
        self._tables.add(node.value)
        return () if known else node.entries

    def _line(self, *values: Any) -> None:
        self._file.write(json.dumps(values) + "\n")


class _Recorder:
    """A solver layer that writes down what it is asked."""

    def __init__(self, inner: Solver, writer: _Writer) -> None:
        self._inner, self._writer = inner, writer

    def solve(self, query: Query) -> Answer:
        self._writer.ask(list(query.path), query.target, query.data)
        return self._inner.solve(query)


def record(program: Path, tests: int, file: Path, flags: Sequence[str] = ()) -> None:
    """Explore a program natively for so many tests and write down every question. `flags`: the compiler's."""

    with tempfile.TemporaryDirectory() as work, file.open("w", encoding="ascii") as out:
        writer = _Writer(out)

        def chain(solver: str) -> Chain:
            return Chain(_Recorder(default_chain(solver=solver).first, writer))

        options = ["--seed", "1", "--max-tests", str(tests), "--json", "--out", os.path.join(work, "out")]
        with (
            patch.object(worker, "default_chain", chain),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            code = main(["run", *options, str(program), "--", *flags])
    if code not in (0, 1):
        raise SystemExit(f"{program}: exit code {code}")


def read(file: Path) -> Iterator[Question]:
    """The questions of a recording."""
    formulas: list[Expr] = []
    path: list[Expr] = []
    tables: dict[int, list[int]] = {}
    with file.open(encoding="ascii") as lines:
        for line in lines:
            what, *values = json.loads(line)
            if what == "node":
                kind, width, value, *arguments = values
                formulas.append(intern(Kind(kind), width, tuple(formulas[i] for i in arguments), value))
            elif what == "table":
                width, name, index, *entries = values
                table = tables.setdefault(name, entries)
                formulas.append(intern_table(width, formulas[index], name, table))
            else:
                keep, conditions, target, data = values
                path = path[:keep] + [formulas[i] for i in conditions]
                yield Question(keep, path, formulas[target], bytes.fromhex(data))
