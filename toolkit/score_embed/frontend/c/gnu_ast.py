"""AST nodes for GNU C that pycparser has no class for.

They follow pycparser's conventions (slots in the order of the children, then two that `repr()` skips;
`children()`; `attr_names`), so that its visitors, `show()` and `repr()` work on them. Which construct becomes
which node is documented on top of gnu_parser.py.
"""

# ruff: noqa: RUF023

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pycparser import c_ast
from pycparser.c_parser import Coord


class _GnuNode(c_ast.Node):  # type: ignore[misc]
    """Children are the node-valued slots (and lists of nodes), in the order of the slots."""

    __slots__: tuple[str, ...] = ()

    def children(self) -> tuple[tuple[str, c_ast.Node], ...]:
        found: list[tuple[str, c_ast.Node]] = []
        for name in self.__slots__[:-2]:
            value = getattr(self, name)
            if isinstance(value, c_ast.Node):
                found.append((name, value))
            elif isinstance(value, list):
                found += [(f"{name}[{i}]", v) for i, v in enumerate(value) if isinstance(v, c_ast.Node)]
        return tuple(found)

    def __iter__(self) -> Iterator[c_ast.Node]:
        return (child for _, child in self.children())


class GnuAttribute(_GnuNode):
    """One `__attribute__((…))`, kept as normalised source text."""

    __slots__ = ("text", "coord", "__weakref__")
    attr_names = ("text",)

    def __init__(self, text: str, coord: Coord | None = None) -> None:
        self.text = text
        self.coord = coord


class AsmLabel(_GnuNode):
    """The assembler name of a declared object or function: `int x __asm__("y");`."""

    __slots__ = ("name", "coord", "__weakref__")

    def __init__(self, name: c_ast.Constant, coord: Coord | None = None) -> None:
        self.name = name
        self.coord = coord


class Asm(_GnuNode):
    """An asm statement or file-scope asm; `outputs` is None for basic asm (no colon at all)."""

    __slots__ = ("quals", "template", "outputs", "inputs", "clobbers", "labels", "coord", "__weakref__")
    attr_names = ("quals", "labels")

    def __init__(
        self,
        quals: Sequence[str],
        template: c_ast.Constant,
        outputs: list[AsmOperand] | None = None,
        inputs: list[AsmOperand] | None = None,
        clobbers: list[c_ast.Constant] | None = None,
        labels: list[str] | None = None,
        coord: Coord | None = None,
    ) -> None:
        self.quals = list(quals)
        self.template = template
        self.outputs = outputs
        self.inputs = inputs or []
        self.clobbers = clobbers or []
        self.labels = labels or []
        self.coord = coord


class AsmOperand(_GnuNode):
    """`[name] "constraint" (expr)`; `name` may be None."""

    __slots__ = ("name", "constraint", "expr", "coord", "__weakref__")
    attr_names = ("name",)

    def __init__(
        self, name: str | None, constraint: c_ast.Constant, expr: c_ast.Node, coord: Coord | None = None
    ) -> None:
        self.name = name
        self.constraint = constraint
        self.expr = expr
        self.coord = coord


class LabelAddress(_GnuNode):
    """`&&label`."""

    __slots__ = ("name", "coord", "__weakref__")
    attr_names = ("name",)

    def __init__(self, name: str, coord: Coord | None = None) -> None:
        self.name = name
        self.coord = coord


class ComputedGoto(_GnuNode):
    """`goto *expr;`."""

    __slots__ = ("expr", "coord", "__weakref__")

    def __init__(self, expr: c_ast.Node, coord: Coord | None = None) -> None:
        self.expr = expr
        self.coord = coord


class LocalLabels(_GnuNode):
    """`__label__ a, b;` at the start of a block."""

    __slots__ = ("names", "coord", "__weakref__")
    attr_names = ("names",)

    def __init__(self, names: list[str], coord: Coord | None = None) -> None:
        self.names = names
        self.coord = coord


class StatementExpression(_GnuNode):
    """`({ … })`, as against a block that stands as a statement."""

    __slots__ = ("block_items", "coord", "__weakref__")

    def __init__(self, block_items: list[c_ast.Node], coord: Coord | None = None) -> None:
        self.block_items = block_items
        self.coord = coord


class ChooseExpr(_GnuNode):
    """`__builtin_choose_expr(cond, first, second)`: one of the two, which alone is evaluated and gives the type."""

    __slots__ = ("cond", "first", "second", "coord", "__weakref__")

    def __init__(self, cond: c_ast.Node, first: c_ast.Node, second: c_ast.Node, coord: Coord | None = None) -> None:
        self.cond = cond
        self.first = first
        self.second = second
        self.coord = coord


class ValueRange(_GnuNode):
    """`first ... last` of a case label or an array designator."""

    __slots__ = ("first", "last", "coord", "__weakref__")

    def __init__(self, first: c_ast.Node, last: c_ast.Node, coord: Coord | None = None) -> None:
        self.first = first
        self.last = last
        self.coord = coord
