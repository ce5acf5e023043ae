"""The parameters of a function that gets a harness: what is known of each, and the variables that are passed for them.

A parameter's type says little. Which one counts the elements of which, whether a pointer may be null, is to one object
or to many, and what a `void *` really is to, the function's names, attributes, assertions and body tell; hints overrule
them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace

from pycparser import c_ast

from score_embed.contract.entry import Argument
from score_embed.errors import BuildError, UsageError
from score_embed.frontend.c.own_names import as_written
from score_embed.frontend.c.printer import to_c
from score_embed.frontend.declarations.symbols import Unsupported
from score_embed.frontend.harness import names, preconditions, spans, uses
from score_embed.frontend.harness.containers import container
from score_embed.frontend.harness.draft import Draft, Pointee, Span
from score_embed.frontend.harness.maker import Maker
from score_embed.frontend.harness.names import Counts, Field
from score_embed.frontend.harness.predicates import Predicates
from score_embed.frontend.harness.scope import Unmakeable
from score_embed.frontend.harness.shapes import is_plain
from score_embed.frontend.harness.sizes import count_key
from score_embed.frontend.harness.text import Spot
from score_embed.frontend.types.ctype import (
    Array,
    CType,
    Function,
    Int,
    Pointer,
    Struct,
    VaList,
    Void,
    is_float,
    is_integer,
    unqualified,
    without_const,
)
from score_embed.userfile import shown
from score_embed.yamlfile import suggestion

_ROOT = re.compile(r"\W*(\w+)")
_MOST_FIXED = 256  # elements that a parameter is declared with


class Parameters:
    """Of one function. `local`: the harness's variables for them; `arguments`: what a test without a harness passes,
    None if they cannot be written as constants; `said`: what the function says of them itself. Raises BuildError."""

    def __init__(self, draft: Draft, maker: Maker, node: c_ast.FuncDef) -> None:
        self._draft, self._maker, self._node = draft, maker, node
        self._where = f"{node.decl.coord.file}:{node.decl.coord.line}"
        self.type = self._typed()
        self._parameters = uses.parameters_of(node)
        self.names = [getattr(p, "name", None) or f"argument{i}" for i, p in enumerate(self._parameters)]
        self.said = preconditions.said_of(
            draft.scope.tree, node, self.names, Predicates(draft.scope.definition).only_looks
        )
        draft.preconditions = tuple(to_c(condition) for condition, _ in self.said.assumed)
        self._sizes = {name for name, p in zip(self.names, self._parameters, strict=True) if uses.is_size(p)}
        self.types: dict[str, CType] = {}
        self.local: dict[str, str] = {}
        self.arguments: list[Argument] | None = []

    def _typed(self) -> Function:
        try:
            t = self._draft.scope.declarations.type_of(self._node.decl)
        except Unsupported as error:
            raise BuildError(
                f"no harness for '{as_written(self._node.decl.name)}': {error.what}", self._where
            ) from None
        assert isinstance(t, Function)
        if t.params is None and self._node.param_decls:
            decls = {decl.name: decl for decl in self._node.param_decls}
            listed = [decls.get(p.name) for p in self._node.decl.type.args.params]
            params = tuple(
                self._draft.scope.declarations.parameter(d) if d is not None else self._draft.scope.types.int
                for d in listed
            )
            return replace(t, params=params)
        return t

    @property
    def passed(self) -> list[str]:
        """Those that the function's type has."""
        return self.names[: len(self.type.params or ())]

    def make(self) -> list[str]:
        """The declarations of the arguments; what makes them goes to the maker, numbers first that others need."""
        local = self.local = {name: self._local(name) for name in self.names}
        names_ = self.passed
        types = self.types = dict(zip(names_, self.type.params or (), strict=True))
        for name in names_:
            self._draft.text.take(local[name])
        counts = self._counts(types)
        moving = self._draft.moving = self._moving(types)
        for name in (*moving, *moving.values()):
            counts.of.pop(name, None)
        self._draft.spans = self._spans(types, {*counts.of, *moving})
        declared: list[str] = []
        first = {*counts.of.values(), *moving.values()}
        order = sorted(self._in_order(names_), key=lambda name: (self._leads_into(name), name not in first))
        arguments: dict[str, Argument | None] = {}
        for name in order:
            arguments[name] = self._parameter(name, types[name], counts, local, declared)
        kept = [arguments[name] for name in names_]
        self.arguments = None if None in kept or self._draft.hints.globals else [a for a in kept if a is not None]
        return declared

    def _local(self, name: str) -> str:
        """The harness's variable for a parameter: under its name, unless that means something else at file scope."""
        return self._draft.text.fresh(name) if self._draft.scope.is_taken(name) else name

    def _in_order(self, names: Sequence[str]) -> list[str]:
        """Behind those that they may be the same as: a pointer can be that of one which is there."""
        order: dict[str, None] = {}
        begun: set[str] = set()

        def add(name: str) -> None:
            if name in begun:
                return
            begun.add(name)
            for other in self._draft.hints.of(name).alias:
                root = _ROOT.match(other)
                if root is not None and root[1] in names:
                    add(root[1])
            order.setdefault(name)

        for name in names:
            add(name)
        return list(order)

    def _parameter(
        self, name: str, t: CType, counts: Counts, local: dict[str, str], declared: list[str]
    ) -> Argument | None:
        maker, variable = self._maker, local[name]
        u = without_const(unqualified(t))
        spot = Spot(variable, name)
        hint = self._draft.heeded.meet(name, (), u)
        count = counts.of.get(name, "")
        promised = name in self.said.not_null
        looks = self._draft.hints.all_null or self._draft.scope.nulls.argument(self._node.decl.name, name)
        pointee = Pointee(self._count(count, counts, local), nullable=looks and not promised, promised=promised)
        pointee = replace(pointee, freed=self._draft.scope.freed.argument(self._node.decl.name, name))
        span = self._draft.spans.get(name, Span())
        has_array = name in self._draft.spans and not span.into
        pointee = replace(pointee, weak=name in counts.weak and not hint.count, many=has_array, into=span.into)
        pointee = replace(pointee, count=pointee.count or span.count, weak=pointee.weak or bool(span.count))
        pointee = replace(pointee, asks=count_key(count) if count else span.asks)
        try:
            if isinstance(u, Pointer) and self._is_plain_buffer(u, name, pointee):
                element = self._element(u)
                maker.buffer(element, variable, spot, pointee, hint)
                is_bytes = isinstance(element, Int) and element.bits == 8 and not element.signed
                most = hint.size or self._draft.lengths(pointee.asks, name, element).most
                array = self._draft.scope.declare(element, f"{name}[{most}]")
                return Argument(name, array, name, "bytes" if is_bytes else "raw")
            declaration = self._draft.scope.declare(u, variable)
            if isinstance(u, VaList):
                declared.append(f"static {declaration};")
            else:
                declared.append(f"{declaration} = {'{0}' if isinstance(u, (Struct, Array)) else '0'};")
            if isinstance(u, Pointer):
                single = self._is_single(u, name) or name in self._draft.moving.values()
                larger, part = self._container(u, name)
                pointee = replace(pointee, single=single, seen_as=larger or self._seen_as(u, name), part=part)
        except Unmakeable as error:
            raise BuildError(
                f"no harness for '{as_written(self._node.decl.name)}': {as_written(name)}: {error}",
                self._where,
                "Give its type a name.",
            ) from None
        maker.value(u, spot, pointee)
        simple = (is_integer(u) or is_float(u)) and not hint.value
        return Argument(name, self._draft.scope.declare(u, name), name, "number") if simple else None

    def _count(self, count: str, counts: Counts, local: dict[str, str]) -> str:
        """The lvalue of the number that says how many: a parameter, or what it is a pointer to."""
        if not count:
            return ""
        return local.get(count, count)

    def _is_plain_buffer(self, u: Pointer, name: str, pointee: Pointee) -> bool:
        hint = self._draft.hints.of(name)
        to = self._element(u)
        has_size = bool(pointee.count or hint.size)
        special = hint.nullable or hint.alias or hint.string or hint.value or isinstance(unqualified(u.to), Array)
        return (
            has_size
            and not special
            and not pointee.nullable
            and not self._draft.scope.frees
            and (is_integer(to) or is_float(to))
            and is_plain(to)
        )

    def _element(self, u: Pointer) -> CType:
        to = unqualified(u.to)
        return self._draft.scope.types.uchar if isinstance(to, Void) else without_const(to)

    def _is_single(self, u: Pointer, name: str) -> bool:
        """A pointer to one object, as the body shows."""
        body = self._node.body
        if uses.is_moved(body, name):
            return False
        return isinstance(unqualified(u.to), Struct) or not uses.is_given_away(body, name)

    def _leads_into(self, name: str) -> bool:
        """Whether it, or what it leads to, points into another parameter's array."""
        return any(label in self._draft.spans and self._draft.spans[label].into for label in (name, f"(*{name})"))

    def _spans(self, types: dict[str, CType], taken: set[str]) -> dict[str, Span]:
        """Parameters that lead into one array. Where one is its end, how long it is is an input."""
        found: dict[str, Span] = {}
        text = self._draft.text
        for group in spans.groups(self._draft.scope.tree, self._node):
            elements = {self._element_at(types.get(name), level) for name, level in group}
            said = any(level > 1 or self._draft.hints.of(name).at for name, level in group)
            if None in elements or len(elements) > 1 or said or any(name in taken for name, _ in group):
                continue
            ends = [place for place in group if spans.ENDS.fullmatch(place[0])]
            others = [place for place in group if place not in ends]
            if not others:
                continue
            base = next((place for place in others if spans.BEGINS.fullmatch(place[0])), others[0])
            count, asks = "", ""
            if ends:
                asks = "-".join("*" * level + name for name, level in (ends[0], base))
                count, said_as = text.fresh(base[0], "_length"), f"{_label(ends[0])} - {_label(base)}"
                text.say(f'unsigned short {count}; __score_symbolic(&{count}, sizeof {count}, "{as_written(said_as)}");')
                text.asked += 2
                text.numbers[count] = said_as
            found[_label(base)] = Span(count=count, asks=asks)
            found |= {_label(place): Span(into=_label(base)) for place in group if place != base}
        return found

    def _element_at(self, t: CType | None, level: int) -> str | None:
        """What a pointer is to that is gone through so often first, if that are numbers."""
        for _ in range(level + 1):
            u = unqualified(t) if t is not None else None
            t = u.to if isinstance(u, Pointer) else None
        to = unqualified(t) if t is not None else None
        if to is None or not (isinstance(to, Void) or is_plain(to)):
            return None
        return self._draft.scope.declare(without_const(to))

    def _container(self, u: Pointer, name: str) -> tuple[CType | None, str]:
        """The structure that a parameter leads into, and where."""
        found = container(self._draft.scope.tree, self._node, name)
        t = self._draft.scope.type_at(found[0]) if found is not None else None
        is_made = isinstance(unqualified(u.to), (Struct, Void)) and isinstance(t, Struct) and bool(t.record.members)
        return (unqualified(t), found[1]) if found is not None and t is not None and is_made else (None, "")

    def _seen_as(self, u: Pointer, name: str) -> CType | None:
        """What a `void *` is to, as the body shows; what a structure is a part of, as the file does."""
        to = unqualified(u.to)
        if isinstance(to, Struct):
            return self._draft.scope.seen_as(to.record)
        if not isinstance(to, Void):
            return None
        for node in uses.seen_as(self._draft.scope.tree, self._node, name):
            t = self._draft.scope.type_at(node)
            if isinstance(t, Pointer) and isinstance(unqualified(t.to), (Struct, Pointer)):
                return unqualified(t.to)
        return None

    def _counts(self, types: dict[str, CType]) -> Counts:
        body, fields = self._node.body, []
        for name, t in types.items():
            u = unqualified(t)
            to = unqualified(u.to) if isinstance(u, Pointer) else None
            looked_at = uses.has_members_used(body, name) or (not _is_byte(to) and uses.is_looked_at(body, name))
            single = to is not None and looked_at and not uses.is_moved(body, name)
            if isinstance(to, (Void, Struct)) and isinstance(u, Pointer) and self._seen_as(u, name) is not None:
                single = single or not uses.is_moved(body, name)
            number = is_integer(u) and not (isinstance(u, Int) and u.name == "_Bool")
            sized = name in self._sizes if number else not isinstance(to, (Struct, Pointer))
            fields.append(Field(name, self._draft.scope.element_name(u), number, single=single, sized=sized))
        found = names.of_parameters(fields)
        found.of |= self.said.counts
        self._declared_counts(found)
        for name in types:
            hint = self._draft.hints.of(name)
            if hint.count:
                found.of[name] = hint.count
                named = types.get(hint.count) or self._draft.scope.variable(hint.count)
                if hint.count.isidentifier() and (named is None or not is_integer(unqualified(named))):
                    numbers = [other for other, of in types.items() if is_integer(unqualified(of))]
                    what = f"'count' of {as_written(name)}: {shown(hint.count)} is no number here"
                    raise UsageError(what, hint.at, suggestion(hint.count, numbers) if numbers else "Use `size`.")
        return found

    def _moving(self, types: dict[str, CType]) -> dict[str, str]:
        """`(const char **buf, size_t *buflen)`: a pointer that functions move on, and how much is left."""
        body = self._node.body
        behind = {name: u.to for name, t in types.items() if isinstance(u := unqualified(t), Pointer)}
        single = [name for name in behind if not uses.is_moved(body, name) and not self._draft.hints.of(name).at]
        found: dict[str, str] = {}
        for name, after in itertools.pairwise(types):
            inner, number = behind.get(name), behind.get(after)
            if inner is None or number is None or not {name, after} <= {*single} or not names.is_count(after):
                continue
            to = unqualified(inner.to) if isinstance(inner := unqualified(inner), Pointer) else None
            is_buffer = isinstance(to, Void) or (to is not None and is_plain(to))
            if is_buffer and is_integer(unqualified(number)) and not number.const:
                found[name] = after
        return found

    def _declared_counts(self, found: Counts) -> None:
        """`int a[n]`, and `int a[4]`, which says how many there are."""
        for param, name in zip(self._parameters, self.names, strict=True):
            array = getattr(param, "type", None)
            if not isinstance(array, c_ast.ArrayDecl) or array.dim is None:
                continue
            if isinstance(array.dim, c_ast.ID) and array.dim.name in self.names:
                found.of[name] = array.dim.name
            elif (
                (length := self._draft.scope.declarations.constant(array.dim))
                and name not in found.of
                and length <= _MOST_FIXED
            ):
                known = self._draft.hints.of(name)
                if not known.size:
                    self._draft.hints.arguments[name] = replace(known, size=length)


def _label(place: spans.Place) -> str:
    """As harnesses call it."""
    name, level = place
    return f"(*{name})" if level else name


def _is_byte(t: CType | None) -> bool:
    return isinstance(t, Void) or (isinstance(t, Int) and t.bits == 8)
