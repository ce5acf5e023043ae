"""Which sizes the code asks for: what it compares a count or a text's length with, and what it copies them into.

With arrays of at most 16 bytes nothing is reached behind `if (len < 32) return -1;`, `char line[32]; strcpy(line, s);`
never overflows, and no text is equal to `"reboot-to-bootloader"`. So the constants that counts are compared with, the
literals that texts are compared with, and the sizes of the arrays that either is copied into, are sizes that a harness
makes, too (`lengths.py`). They are followed through copies, sums with constants, and calls within the file. What is not
found here is a bound as before, and said.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from pycparser import c_ast

from score_embed.errors import BuildError
from score_embed.frontend.c.parse import parse
from score_embed.frontend.harness.asked import ANY, READ, TEXT, Asked, Body, Declared, Key, Length
from score_embed.frontend.harness.uses import all_parameters

_ROUNDS = 4  # calls that pass something on, one after the other

Said = Mapping[Key, Asked]  # of one function


class Sizes:
    """Of one file. `constant`: the value of an expression, as far as that is known; `elsewhere`: what a function of
    another file says of its own."""

    def __init__(self, tree: c_ast.FileAST, constant: Length, elsewhere: Callable[[str], Said | None]) -> None:
        outside = Declared(tree.ext, constant)
        self._parameters = all_parameters(tree)
        functions = [ext for ext in tree.ext if isinstance(ext, c_ast.FuncDef)]
        self._constant, self._outside, self._elsewhere = constant, outside, elsewhere
        self._bodies = {ext.decl.name: Body(ext, outside, constant, self._parameters) for ext in functions}
        self._own = {name: body.asked for name, body in self._bodies.items()}
        self._wide: dict[str, Said] = {}
        for _ in range(_ROUNDS):
            for name, body in self._bodies.items():
                _follow(body, self._own[name], self._own.get)

    def own(self, function: str) -> Said | None:
        """What a function of the file says, as far as the file shows."""
        return self._own.get(function)

    def of(self, function: str, *keys: Key) -> Asked:
        """What a function asks of any of these."""
        if function not in self._wide:
            self._wide[function] = self._with_others(function)
        return _of([self._wide[function]], (*keys, ANY))

    def stated(self, conditions: Iterable[str], *keys: Key) -> Asked:
        """What C that the user has written of numbers asks of any of these; what only the compiler knows says
        nothing."""
        nodes = [node for text in conditions if (node := _condition(text)) is not None]
        return _of([Body(node, self._outside, self._constant, self._parameters).asked for node in nodes], keys)

    def _with_others(self, function: str) -> Said:
        """What it says, and what functions of other files say that it, or one that it calls, passes something on to."""
        names = [function]
        for name in names:  # grows, in the order of the calls: what four rounds find hangs on it
            called = dict.fromkeys(call[0] for call in self._bodies[name].calls)
            names += [callee for callee in called if callee in self._bodies and callee not in names]
        said = {name: _copy(self._own[name]) for name in names}
        for _ in range(_ROUNDS):
            for name in names:
                _follow(self._bodies[name], said[name], lambda of: said[of] if of in said else self._elsewhere(of))
        return said[function]


def _of(said: Iterable[Said], keys: Iterable[Key]) -> Asked:
    found = Asked()
    wanted = {*keys}
    for known in said:
        for key in wanted & known.keys():
            found.add(known[key])
    return found


def _copy(said: Said) -> dict[Key, Asked]:
    found: dict[Key, Asked] = defaultdict(Asked)
    for key, known in said.items():
        found[key].add(known)
    return found


@functools.lru_cache(maxsize=256)  # each array asks for all of them
def _condition(text: str) -> c_ast.FuncDef | None:
    try:
        tree = parse(f"int f(void) {{ return {text}; }}", "")
    except BuildError:
        return None
    return next((ext for ext in tree.ext if isinstance(ext, c_ast.FuncDef)), None)


def count_key(number: str) -> Key:
    """Of a number, as C writes it: `len`, `s->len`."""
    member = number.replace("->", ".").rpartition(".")
    return f".{member[2]}" if member[1] else number.strip("()")


def text_key(label: str) -> Key:
    """Of the text that a pointer leads to, as harnesses call the pointer."""
    return f"{TEXT}{count_key(label)}"


def read_key(label: str) -> Key:
    """Of the elements that a pointer leads to."""
    return f"{READ}{count_key(label)}"


def _follow(body: Body, said: dict[Key, Asked], said_of: Callable[[str], Said | None]) -> None:
    """One step: through the copies of a body, and the calls in it."""
    for to, source, offset in body.copies:
        _pass_back(said, to, said, source, offset)
    for callee, param, source, offset in body.calls:
        theirs = said_of(callee)
        if theirs is None or theirs is said:
            continue
        _pass_back(theirs, param, said, source, offset)
        for key in [key for key in theirs if not key or key.lstrip(TEXT + READ).startswith(".")]:
            said[key].add(theirs[key])


def _pass_back(theirs: Said, to: Key, said: dict[Key, Asked], source: Key, offset: int) -> None:
    """What is asked of `to`, which is `source + offset`, and of what lies there, which is so much shorter."""
    if known := theirs.get(to):
        said[source].add(known, offset)
    for before in (TEXT, READ) if not source.startswith(TEXT) else ():
        if known := theirs.get(before + to):
            said[before + source].add(known, -offset)
