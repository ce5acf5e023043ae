"""Gives pointers their values: the object that was made for one (`objects.py`), null, what another pointer leads to, or
a function.

Which of them is an input, and without a branch: null or not is computed (`object * given`), one of several is read from
a table. So it is settled where the function first looks at it, and the function's paths are its own. A pointer to a
function is to one of the program's of that type, or to a stub with any result. What cannot be made stays null, and that
is said.
"""

from __future__ import annotations

import functools
import re
from dataclasses import replace

from score_embed.errors import UsageError
from score_embed.frontend.c.own_names import as_written
from score_embed.frontend.harness.draft import Draft, Pointee, Value, without_subscripts
from score_embed.frontend.harness.hints import Hint
from score_embed.frontend.harness.objects import Objects
from score_embed.frontend.harness.scope import Unmakeable
from score_embed.frontend.harness.shapes import allocates
from score_embed.frontend.harness.spans import ENDS
from score_embed.frontend.harness.text import Spot
from score_embed.frontend.types.ctype import (
    Array,
    CType,
    Function,
    Int,
    Pointer,
    Struct,
    Void,
    unqualified,
    without_const,
)
from score_embed.userfile import shown

_CALLBACKS = 6


class Pointers:
    """Of one harness. `value`: what makes the results of stubs."""

    def __init__(self, draft: Draft, objects: Objects, value: Value) -> None:
        self._draft, self._objects, self._value = draft, objects, value

    def make(self, t: CType, u: Pointer, spot: Spot, pointee: Pointee | None, hint: Hint) -> None:
        """Statements that make the pointer at `spot`, and what it leads to. `pointee`: None if nothing is known of
        it."""
        pointee = pointee or self._behind_pointer(spot)
        to = unqualified(u.to)
        if pointee.seen_as is not None:
            to = unqualified(pointee.seen_as)
        if (hint.into or pointee.into) and self._into(t, spot, hint, pointee):
            return
        if hint.nullable is not None:
            pointee = replace(pointee, nullable=hint.nullable, promised=not hint.nullable)
        try:
            if isinstance(to, Function):
                self._callback(t, to, spot, pointee)
                return
            target = self._objects.target(to, spot, pointee, hint, u.to.const)
        except Unmakeable as error:
            self._draft.text.lose(spot, t, str(error))
            return
        if target is None:
            return
        if pointee.part:
            target = f"((char *) {target} + {pointee.part})"
        if pointee.count and hint.nullable is not True:
            pointee = replace(pointee, empty=pointee.nullable)
        self._settle(t, target, spot, pointee, hint)

    def _behind_pointer(self, spot: Spot) -> Pointee:
        """A pointer that another one leads to, an element of an array, or a variable at file scope."""
        base = without_subscripts(spot.label).strip("*()")
        span = self._draft.spans.get(spot.label)
        moving = self._draft.moving.get(base, "")
        return Pointee(
            count=self._draft.objects.get(moving, "") or (span.count if span else ""),
            asks=f"*{moving}" if moving else span.asks if span else "",
            many=span is not None and not span.into,
            weak=span is not None and bool(span.count),
            into=span.into if span else "",
            nullable=self._draft.hints.all_null or self._draft.scope.nulls.behind(self._draft.function, base),
            freed=self._draft.scope.freed.behind(self._draft.function, base),
        )

    def _into(self, t: CType, spot: Spot, hint: Hint, pointee: Pointee) -> bool:
        """A pointer into the array that another one leads to, or right behind it: where is an input. What is called the
        end is the end."""
        beside = spot.label.removesuffix(re.split(r"->|\.", spot.label)[-1])
        names = [hint.into, f"{beside}{hint.into}"] if hint.into else [pointee.into]
        base = next((name for name in names if name in self._draft.rooms), "")
        if not base:
            if hint.into and spot.label in self._draft.hints.arguments:
                known = ", ".join(as_written(name) for name in self._draft.rooms) or "none"
                what = f"'into' of {shown(as_written(spot.label))}: no array {shown(as_written(hint.into))} is made before it"
                raise UsageError(what, hint.at, f"Arrays before it: {known}.")
            return False
        text, room, begin = self._draft.text, self._draft.rooms[base], self._draft.pointers[base]
        limit = text.bound if hint.into else functools.partial(text.guess, spot.label)
        place = text.writable(t, spot.place)
        self._draft.pointers[spot.label] = spot.place
        if base in self._draft.nullable:
            room = f"({begin} ? {room} : 0)"
        if ENDS.fullmatch(spot.label.strip("(*)")):
            text.say(f"{place} = (void *) ({begin} + {room});")
            limit(f"{spot.label} = the end of {base}")
            return True
        at = text.fresh(spot.label, "_at")
        label = f"{as_written(spot.label)} - {as_written(base)}"
        text.say(f'unsigned short {at}; __score_symbolic(&{at}, sizeof {at}, "{label}");')
        text.asked += 2
        text.assume(f"{at} <= {room}")
        text.say(f"{place} = (void *) ({begin} + {at});")
        limit(f"{spot.label} within {base}")
        return True

    def _settle(self, t: CType, target: str, spot: Spot, pointee: Pointee, hint: Hint) -> None:
        """The pointer's value: the object, or null, or what another pointer leads to."""
        place, label = self._draft.text.writable(t, spot.place), as_written(spot.label)
        self._draft.heeded.check_alias(spot.label, hint, list(self._draft.pointers))
        if pointee.compared and not hint.alias and not hint.at:
            hint = replace(hint, alias=self._back(t))
        others = [self._draft.pointers[name] for name in hint.alias if name in self._draft.pointers]
        self._draft.pointers[spot.label] = spot.place
        if others:
            nulls = ["(void *) 0"] if pointee.nullable else []
            choices = [f"(void *) {target}", *(f"(void *) {other}" for other in others), *nulls]
            said = ["its own", *(f"as {name}" for name in hint.alias), *(["null"] if nulls else [])]
            chosen = self._draft.text.choice(label, said, len(choices))
            table = self._draft.text.fresh(spot.label, "_choices")
            self._draft.text.say(f"void *{table}[] = {{{', '.join(choices)}}};")
            self._draft.text.say(f"{place} = {table}[{chosen}];")
        elif pointee.nullable:
            self._draft.nullable.add(spot.label)
            given = self._draft.text.fresh(spot.label, "_given")
            self._draft.text.say(
                f'unsigned char {given}; __score_symbolic(&{given}, sizeof {given}, "{label} != NULL");'
            )
            self._draft.text.asked += 1
            self._draft.text.say(f"{place} = (void *) ((__UINTPTR_TYPE__) {target} * (({given} + 255u) >> 8));")
            if pointee.empty:
                self._draft.text.assume(f"({given} != 0) | ({pointee.count} == 0)")
        else:
            self._draft.text.say(f"{place} = (void *) {target};")
            if not pointee.count and not pointee.promised:
                self._draft.text.never_null.append(as_written(spot.label))

    def _back(self, t: CType) -> tuple[str, ...]:
        """The nearest object around of the type that a pointer is to, by its name."""
        u = unqualified(t)
        to = unqualified(u.to) if isinstance(u, Pointer) else None
        found = [label for record, label in self._draft.around if isinstance(to, Struct) and record is to.record]
        return (found[-1],) if found else ()

    # --- functions ------------------------------------------------------------------------------------------------

    def _callback(self, t: CType, to: Function, spot: Spot, pointee: Pointee) -> None:
        """One of the program's functions of that type, or a stub with any result."""
        candidates = self._draft.scope.callbacks(to)[:_CALLBACKS]
        if not candidates or not allocates(to):
            candidates.insert(0, self._stub(to, spot))
        if pointee.nullable:
            candidates.append("0")
        place = self._draft.text.writable(t, spot.place)
        if len(candidates) == 1:
            self._draft.text.say(f"{place} = {candidates[0]};")
            return
        said = ["null" if name == "0" else as_written(name) for name in candidates]
        chosen = self._draft.text.choice(as_written(spot.label), said, len(candidates))
        table = self._draft.text.fresh(spot.label, "_choices")
        declared = self._draft.scope.declare(Array(Pointer(to, const=True), None), table)
        self._draft.text.say(f"static {declared} = {{{', '.join(candidates)}}};")
        self._draft.text.say(f"{place} = {table}[{chosen}];")

    def _stub(self, to: Function, spot: Spot) -> str:
        name = self._draft.text.fresh(spot.label, "_stub")
        params = (
            ", ".join(self._draft.scope.declare(p, f"argument{i}") for i, p in enumerate(to.params or ())) or "void"
        )
        head = self._draft.scope.declare(to.result, f"{name}({params}{', ...' if to.variadic and to.params else ''})")
        result = unqualified(to.result)
        body = "    return;\n"
        if allocates(to):
            body = _allocating(to, as_written(f"{spot.label}()"))
        elif not isinstance(result, Void):
            body = self._result(result, replace(spot, label=f"{spot.label}()"))
        self._draft.text.before.append(f"static {head}\n{{\n{body}}}\n")
        return name

    def _result(self, result: CType, spot: Spot) -> str:
        """What a stub gives back: an input, each time it is called."""
        outer, self._draft.text = self._draft.text, self._draft.text.of_a_function()
        try:
            declared = self._draft.scope.declare(without_const(result), "result")
            self._value(without_const(result), replace(spot, place="result", levels=spot.levels + 2))
            inner = self._draft.text
        finally:
            self._draft.text = outer
        zero = "{0}" if isinstance(result, (Struct, Array)) else "0"
        lines = [*inner.objects, f"{declared} = {zero};", *inner.lines, "return result;"]
        return "".join(f"    {line}\n" for line in lines)


def _allocating(to: Function, label: str) -> str:
    """The body of a stub that is asked for memory: null, or a block of that size. Of two numbers the block has as many
    bytes as their product, unless there is an old block, too: then they are the old size and the new one."""
    params = to.params or ()
    sizes = [f"argument{number}" for number, p in enumerate(params) if isinstance(p, Int)]
    pointers = sum(isinstance(unqualified(p), Pointer) for p in params)
    block = f"__builtin_malloc({sizes[-1]})"
    if len(sizes) == 2 and pointers < 2:
        block = f"__builtin_calloc({', '.join(sizes)})"
    given = f'unsigned char given; __score_symbolic(&given, sizeof given, "{label} != NULL");'
    return f"    {given}\n    return given ? {block} : 0;\n"
