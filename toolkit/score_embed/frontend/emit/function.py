"""From the normal form back to C, with probes: one function at a time.

Every statement is printed on one line under a `#line` of the user's position, followed or preceded by its probe. The
user's expression is always evaluated before the probe runs, so that a fault happens on the user's line.
Sites are static arrays inside the function, where every name of the user's is in scope.
"""

from __future__ import annotations

from collections.abc import Iterable

from score_embed.contract.program import UNKNOWN_SIZE
from score_embed.contract.sites import SiteKind
from score_embed.frontend.c.own_names import HANDLER
from score_embed.frontend.c.printer import line_directive
from score_embed.frontend.declarations.objects import is_text
from score_embed.frontend.emit.branches import BranchEmitter
from score_embed.frontend.emit.calls import CallEmitter
from score_embed.frontend.emit.checks import CheckEmitter
from score_embed.frontend.emit.memory import MemoryEmitter
from score_embed.frontend.emit.probes import ByStatement, Probes
from score_embed.frontend.probes.stretches import NO_CALLS, Calls, stretches

_MOST_WORDS = 16_000  # of an array of the site table

OBJECTS = "#define SC_OBJECTS\n"  # before it, in all units, if the runtime has to find objects


class Emitter:
    """Prints one lowered function: each kind of statement by the part that knows it. `calls`: of the whole program."""

    def __init__(self, probes: Probes, calls: Calls = NO_CALLS) -> None:
        self.p = probes
        self._known_calls = calls
        self._calls = CallEmitter(probes)
        self._branches = BranchEmitter(probes)
        self.by_statement: ByStatement = {
            **self._branches.by_statement,
            **self._calls.by_statement,
            **CheckEmitter(probes).by_statement,
            **MemoryEmitter(probes).by_statement,
        }

    def c(self) -> str:
        """The whole function as C."""
        body = self.p.body
        self.p.begin_table(self.p.site(SiteKind.ENTER, [str(body.scalars)], body.name))
        stretched = stretches(body, self._known_calls.leaving)
        for statement in body.statements:
            self.p.at(statement)
            self._put_marks(stretched.before.get(id(statement), ()))
            for note in self.p.notes(statement):
                self.p.put(note)
            self.p.put(self.by_statement[type(statement)](statement))
            self._put_marks(stretched.behind.get(id(statement), ()))
        self.p.put(self._calls.end())
        self.p.tell(stretched.told, body.name in self._known_calls.interrupting)
        params = [
            f"sc_struct_param(sc_f, {self.p.descriptor(self.p.site(SiteKind.COPY, []), [])}, {i}, &{name}, sizeof {name});"
            for i, name in enumerate(body.structs)
        ]
        opening = [
            f"{body.header} {{",  # on one line: where a linker says that the function is
            *body.declarations,
            *(["const SC_ROM sc_d *sc_passed;"] if body.declared is not None else []),
            *self._site_arrays(),
            *(f"{self._listed(name)}({n}, {name});" for n, name in enumerate(self.p.objects.static)),
            "static const SC_ROM sc_d sc_table[] = {\n  " + ",\n  ".join(self.p.table) + "\n};",
            f"SC_ACTIVATION({self.p.words}) sc_a;",
            *([f"{HANDLER};"] if body.handler else []),
            line_directive(body.coord.file, body.coord.line),
            f"sc_enter(sc_f, sc_table, (const void *) {body.emitted_name});",
            *(["sc_lend(0, 0);"] if self.p.numbering.begins_outside else []),  # to whoever called it
            *(["sc_passed = sc_arguments();"] if body.declared is not None else []),
            *params,
        ]
        *lines, end = self.p.lines
        return "\n".join([*opening, *lines, f"{end} }}\n"])  # the brace's code is on the last line, too

    def _put_marks(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self.p.put(self._branches.mark(number))

    def _listed(self, name: str) -> str:
        """How an object of static storage is listed: one of a harness whose size nobody knows has no bounds."""
        if is_text(name):
            return "SC_TEXT"
        return "SC_STATIC_ONE" if UNKNOWN_SIZE in name else "SC_STATIC"

    def _site_arrays(self) -> list[str]:
        """The records of the site table: several arrays, as none has more than 32767 bytes where int has 16 bits."""
        arrays: list[list[str]] = [[]]
        words = 0
        for record in self.p.sites:
            words += record.count(",") + 1
            if words > _MOST_WORDS:
                arrays.append([])
                words = record.count(",") + 1
            arrays[-1].append(record)
        return [f"SC_SITES({n}) = {{\n  " + ",\n  ".join(records) + "\n};" for n, records in enumerate(arrays)]
