"""All translation units of a program: parse each once, lower until the set of instrumented functions is stable.

A call is lowered differently for an instrumented callee than for an opaque one, and whether a function can be
instrumented is known only when it has been lowered and printed; so lowering starts with all and repeats, without those
that failed, the units that they matter to.
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from pathlib import Path

from pycparser import c_ast

from score_embed.contract.program import FREE, LIBRARY, ON_HEAP, Note, Program, Source
from score_embed.contract.sites import MAIN
from score_embed.frontend.c.names import (
    called_names,
    defined_functions,
    outside_names,
    reaches_beyond_names,
    static_names,
)
from score_embed.frontend.c.parse import Trees, parse, system_files
from score_embed.frontend.c.scopes import separate
from score_embed.frontend.c.signature import drop_promises
from score_embed.frontend.declarations.layout import Layout
from score_embed.frontend.declarations.longer import longer_structures
from score_embed.frontend.declarations.symbols import Unsupported
from score_embed.frontend.emit.function import OBJECTS, Emitter
from score_embed.frontend.emit.meta import Meta, Numbering
from score_embed.frontend.emit.probes import Probes
from score_embed.frontend.ir.body import Body
from score_embed.frontend.lower.lengths import complete_arrays
from score_embed.frontend.lower.unit import Lowered, Unit, UnitLowering, why_left_alone
from score_embed.frontend.models import Models, Parsed, has_allocator, prepare, prepare_library, wanted
from score_embed.frontend.probes.bounds import CHECKED_BY_CALLERS
from score_embed.frontend.probes.maybe import Analysis, IsPrivate, aliased_names, names_with_address
from score_embed.frontend.probes.origins import Strays, find_strays
from score_embed.frontend.probes.stretches import calls_of
from score_embed.frontend.probes.waiting import Waiting
from score_embed.frontend.types.ctype import Types
from score_embed.frontend.types.data_model import DataModel

_Key = tuple[str, str]  # a function: its unit if others cannot name it, else ""; its name
_OF_MODELS = frozenset({"null", "bounds"})  # checked in models: what a program may do wrong by calling them


@contextmanager
def _trees_at_rest() -> Iterator[None]:
    """Trees live until the end and hold no cycles that die: what is frozen, the collector does not visit again and
    again. That took a seventh of the time of a program of 30,000 lines."""
    try:
        yield
    finally:
        gc.unfreeze()


@_trees_at_rest()
def instrument_program(
    sources: Sequence[Source],
    model: DataModel,
    *,
    instrument: Sequence[str],
    argument_order: str,
    verify: bool,
    checks: frozenset[str] = frozenset(),
    closed: bool = True,
    strict: bool = False,
    tells_statements: bool = False,
    measure: Callable[[Path, str], Mapping[int, bytes]] | None = None,
    models: Models | None = None,
    trees: Trees | None = None,
    progress: Callable[[str], None] = lambda step: None,
) -> Program:
    """Instrument all sources. Raises BuildError where C cannot be parsed.

    `closed`: no other code of the program, but for libraries, is linked to them.
    `models`: of functions of the C library; `checks`: what is checked beside assertions, of config.CHECKS;
    `measure`: compiles a text as the file of that name would be, for the positions of bit-fields (see Layout);
    `trees`: of sources that are parsed already; they are taken out, and changed here;
    `progress`: is told each step as it begins;
    `tells_statements`: the image tells which statements of C ran (contract/coverage.py);
    A fault of the front-end's own leaves its function uninstrumented, with a note; `strict` raises it.
    """
    units, library, heap = _parsed(sources, models or Models(), trees or {}, closed=closed, progress=progress)
    external = _external_definitions(units)
    types = Types(model)
    complete_arrays(units, types)
    layouts = [Layout(functools.partial(measure, Path(unit.source))) if measure else None for unit in units]
    is_private = private_names(units, closed=closed)
    by_name = set().union(*(called_names(unit.tree) for unit in units))
    defined = set().union(*(defined_functions(unit.tree) for unit in units))
    longer = longer_structures(unit.tree for unit in units)
    outside = tuple(sorted(outside_names((unit.tree, unit.system) for unit in units)))

    def lower(number: int, excluded: frozenset[str]) -> Lowered:
        progress(f"placing probes in {units[number].source}")
        return UnitLowering(
            units[number],
            types,
            external=external,
            excluded=excluded,
            called=by_name,
            instrument=instrument,
            argument_order=argument_order,
            strict=strict,
            layout=layouts[number],
            tells_statements=tells_statements and units[number].source != LIBRARY,
            longer=longer,
        ).lower()

    def printing(results: Sequence[Lowered], left: bool) -> _Printing:
        bodies = _bodies(results)
        asking = [body for body in bodies if body.name not in CHECKED_BY_CALLERS]
        strays = find_strays(asking) if "bounds" in checks else Strays()
        opaque = left or not closed
        waiting = Waiting(bodies, by_name, beside=opaque or any(body.handler for body in bodies))
        analysis = Analysis(bodies, is_private, waiting.may_end)
        begins_outside = MAIN in defined - {body.name for body in bodies}
        numbering = Numbering(has_opaque_code=opaque, begins_outside=begins_outside)
        return _Printing(types, bodies, analysis, strays, numbering, verify=verify, checks=checks, strict=strict)

    texts, numbering, notes, bodies = _stable(units, lower, printing)
    if numbering.finds_objects:
        texts = [OBJECTS + text for text in texts]
    called = texts.pop() if library else ""
    left_alone = tuple(dict.fromkeys(notes))
    return Program(
        tuple(texts),
        called,
        left_alone,
        numbering.site,
        numbering.coverage,
        heap,
        outside,
        beyond_names=numbering.beyond_names or bool(left_alone) or _kept_reaches_beyond(units, bodies, by_name),
    )


def _stable(
    units: Sequence[Unit],
    lower: Callable[[int, frozenset[str]], Lowered],
    printing: Callable[[Sequence[Lowered], bool], _Printing],
) -> tuple[list[str], Numbering, list[Note], list[Body]]:
    """The instrumented C of each unit, why functions were left alone, and the others, when that makes no others be left
    alone.

    `lower`: a unit by its number, without the functions of these names; `printing`: all units, and whether a function
    of theirs is left as written.
    """
    notes: dict[_Key, Note] = {}
    lowered: list[Lowered | None] = [None] * len(units)
    while True:
        excluded = [_excluded(unit, notes) for unit in units]
        results = [kept or lower(n, own) for n, (kept, own) in enumerate(zip(lowered, excluded, strict=True))]
        both = list(zip(units, results, strict=True))
        failed = {_key(unit, name): note for unit, result in both for name, note in result.failed.items()}
        if failed.keys() <= notes.keys():
            printed = printing(results, bool(notes))
            texts = [printed.unit(unit, result) for unit, result in both]
            if not printed.failed:
                handlers = [note for result in results for note in result.handlers]
                return texts, printed.numbering, [*notes.values(), *handlers], _bodies(results)
            failed = printed.failed
        notes |= failed
        lowered = [
            None if result.decisive & (_excluded(unit, notes) - own) else result
            for (unit, result), own in zip(both, excluded, strict=True)
        ]


def _parsed(
    sources: Sequence[Source],
    models: Models,
    trees: Trees,
    *,
    closed: bool,
    progress: Callable[[str], None],
) -> tuple[list[Unit], bool, bool]:
    """The program's units, and after them one with the models that they call; whether they call any, and use the
    heap."""
    parsed = []
    for number, source in enumerate(sources, 1):
        progress(f"parsing {source.path} ({number} of {len(sources)})")
        parsed.append(_parse(source, trees.pop(source, None)))
        gc.freeze()
    if has_allocator(parsed):
        models = models.without_heap()
    names = wanted(parsed, {*models.texts, *((FREE,) if models.heap else ())}, closed=closed)
    called = models.closure(set().union(*names) - {FREE})
    heap = bool(ON_HEAP & set(called).union(*names))
    names = [own - {FREE} for own in names]
    if not called:
        return [_unit(source, unit, {}) for source, unit in zip(sources, parsed, strict=True)], False, heap
    library = Source(Path(LIBRARY), models.load(called))
    last = _parse(library)
    units = [
        _unit(source, unit, prepare(unit, own, last.tree))
        for source, unit, own in zip(sources, parsed, names, strict=True)
    ]
    return [*units, _unit(library, last, prepare_library(last.tree))], True, heap


class _Printing:
    """Prints what all units were lowered to. Functions that cannot be printed are in `failed`."""

    def __init__(
        self,
        types: Types,
        bodies: Sequence[Body],
        analysis: Analysis,
        strays: Strays,
        numbering: Numbering,
        *,
        verify: bool,
        checks: frozenset[str],
        strict: bool,
    ) -> None:
        self.types = types
        self.analysis = analysis
        self.strays = strays
        self.verify, self.checks, self.strict = verify, checks, strict
        self.numbering = numbering
        self.failed: dict[_Key, Note] = {}
        self._calls = calls_of(bodies)

    def unit(self, unit: Unit, lowered: Lowered) -> str:
        """The instrumented C of a unit."""
        meta = Meta(unit.source)
        checks = self.checks if unit.source != LIBRARY else self.checks & _OF_MODELS
        texts = [p if isinstance(p, str) else self._function(unit, p, meta, checks) for p in lowered.pieces]
        return "\n".join([*texts, meta.c()])

    def _function(self, unit: Unit, body: Body, meta: Meta, checks: frozenset[str]) -> str:
        maybe = self.analysis.of(body)
        try:
            probes = Probes(
                body,
                self.types,
                self.numbering,
                meta,
                maybe,
                verify=self.verify,
                checks=checks,
                strays=self.strays,
            )
            return Emitter(probes, self._calls).c()
        except Exception as error:
            if self.strict and not isinstance(error, Unsupported):
                raise
            self.failed[_key(unit, body.name)] = why_left_alone(body.name, error, body.coord)
            return ""


def _key(unit: Unit, name: str) -> _Key:
    return (unit.source if name in unit.static else "", name)


def _excluded(unit: Unit, notes: Mapping[_Key, Note]) -> frozenset[str]:
    """Functions left alone, by the names that they have in this unit."""
    return frozenset(name for source, name in notes if source == (unit.source if name in unit.static else ""))


def _bodies(results: Sequence[Lowered]) -> list[Body]:
    return [piece for result in results for piece in result.pieces if isinstance(piece, Body)]


def _kept_reaches_beyond(units: Sequence[Unit], bodies: Sequence[Body], called: Set[str]) -> bool:
    """Whether what has no probes in these units may call what nobody named."""
    system = {name for unit in units for name, file in defined_functions(unit.tree).items() if file in unit.system}
    return reaches_beyond_names([unit.tree for unit in units], {body.name for body in bodies}, called, system)


def private_names(units: Sequence[Unit], *, closed: bool) -> IsPrivate:
    """Whether nothing reaches a variable of static storage but by its name.

    `closed`: all code that can name it is in `units`; else that is true of static ones only.
    """
    addressed = {name for unit in units for name in names_with_address(unit.tree)}
    addressed |= {name for unit in units for ext in unit.tree.ext for name in aliased_names(ext)}
    seen_elsewhere = {
        ext.name
        for unit in units
        for ext in unit.tree.ext
        if isinstance(ext, c_ast.Decl) and "static" not in (ext.storage or [])
    }
    excluded = addressed if closed else addressed | seen_elsewhere
    return lambda name: name not in excluded


def _parse(source: Source, tree: c_ast.FileAST | None = None) -> Parsed:
    known = tree if tree is not None else parse(source.text, str(source.path))
    return Parsed(known, frozenset(system_files(source.text)))


def _unit(source: Source, parsed: Parsed, renamed: Mapping[str, str]) -> Unit:
    separate(parsed.tree, renamed)
    for ext in parsed.tree.ext:
        if parsed.is_user(ext):
            drop_promises(ext)
    return Unit(str(source.path), parsed.tree, parsed.system, frozenset(static_names(parsed.tree)))


def _external_definitions(units: Sequence[Unit]) -> set[str]:
    """Functions that another unit may call and find instrumented."""
    found: set[str] = set()
    for unit in units:
        files = defined_functions(unit.tree)
        for ext in unit.tree.ext:
            if not isinstance(ext, c_ast.FuncDef) or ext.decl.name in unit.static:
                continue
            if files[ext.decl.name] not in unit.system:
                found.add(ext.decl.name)
    return found
