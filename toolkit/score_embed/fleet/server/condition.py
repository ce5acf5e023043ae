"""Conditions that choose clients, as in `fleet remove --where 'queue < 5 or time > 3600'`.

condition = conjunction {"or" conjunction}
conjunction = term {"and" term}
term = "not" term | "(" condition ")" | NAME ("<" | "<=" | ">" | ">=" | "==" | "!=") NUMBER
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping

from score_embed.errors import UsageError

Values = Mapping[str, float]
Condition = Callable[[Values], bool]

FIELDS = ("queue", "tests", "time", "waiting")  # pairs held, tests run, seconds since it joined, seconds it has waited

_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_TOKEN = re.compile(r"\s*(?:(?P<word>[a-z]+)|(?P<number>\d+(?:\.\d+)?)|(?P<sign><=|>=|==|!=|[<>()]))")
_DEEPEST = 50  # brackets and nots


def parse(text: str) -> Condition:
    """The condition that this text says. Raises UsageError."""
    return _Parser(text).parse()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text, self._depth = text, 0
        self._tokens: list[str] = []
        at = 0
        while text[at:].strip():
            found = _TOKEN.match(text, at)
            if found is None:
                raise self._error(f"nothing begins with {text[at:].strip()[0]!r}")
            self._tokens.append(found[0].strip())
            at = found.end()

    def parse(self) -> Condition:
        condition = self._either()
        if self._tokens:
            raise self._error(f"there is {self._tokens[0]!r} where nothing more is expected")
        return condition

    def _either(self) -> Condition:
        condition = self._both()
        while self._next_is("or"):
            condition = _either(condition, self._both())
        return condition

    def _both(self) -> Condition:
        condition = self._term()
        while self._next_is("and"):
            condition = _both(condition, self._term())
        return condition

    def _term(self) -> Condition:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._error("it is nested too deeply")
        if self._next_is("not"):
            condition = _negated(self._term())
        elif self._next_is("("):
            condition = self._either()
            if not self._next_is(")"):
                raise self._error("a bracket is not closed")
        else:
            condition = self._comparison()
        self._depth -= 1
        return condition

    def _comparison(self) -> Condition:
        name, sign, number = (self._take() for _ in range(3))
        if name not in FIELDS:
            raise self._error(f"{name!r} is none of {', '.join(FIELDS)}")
        if sign not in _COMPARISONS:
            raise self._error(f"after {name!r} there is {sign!r}, not one of {' '.join(_COMPARISONS)}")
        if not number[:1].isdigit():
            raise self._error(f"after '{name} {sign}' there is {number!r}, not a number")
        return _comparison(name, _COMPARISONS[sign], float(number))

    def _next_is(self, token: str) -> bool:
        if self._tokens[:1] != [token]:
            return False
        del self._tokens[0]
        return True

    def _take(self) -> str:
        return self._tokens.pop(0) if self._tokens else "the end"

    def _error(self, what: str) -> UsageError:
        return UsageError(f"this is no condition: {what}", self._text, "Write for example: queue < 5 or time > 3600")


def _either(one: Condition, other: Condition) -> Condition:
    return lambda values: one(values) or other(values)


def _both(one: Condition, other: Condition) -> Condition:
    return lambda values: one(values) and other(values)


def _negated(condition: Condition) -> Condition:
    return lambda values: not condition(values)


def _comparison(name: str, compare: Callable[[float, float], bool], number: float) -> Condition:
    return lambda values: compare(values[name], number)
