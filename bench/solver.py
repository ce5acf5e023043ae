"""What the solver layers and the ways to use Z3 cost, on the questions of real campaigns.

    .venv/bin/python bench/solver.py [--quick] [--keep DIR] [PROGRAM…]

Explores each program of bench/ for some tests and writes down its questions (or reads them from DIR, if they were kept
there), then answers them with each way to use Z3, and with Bitwuzla: all of them ("alone"), and those that the cheaper
layers leave ("behind the layers"). Last, with all layers, one layer taken away at a time; of programs of bench/tables,
too. Prints tables in Markdown; a number is the time as a multiple of the best in its column, and all answers must
agree.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from stream import Question, read, record
from variants import MAKERS, VARIANTS, Bitwuzlas, Variant

from score_embed.engine._core import Slicer
from score_embed.formula.expr import Expr
from score_embed.solve.bitwuzla import BitwuzlaLayer
from score_embed.solve.cache import CacheLayer
from score_embed.solve.chain import ArithmeticLayer, DomainLayer, ModelLayer, Nobody, TablesLayer
from score_embed.solve.choices import ChoicesLayer
from score_embed.solve.cuts import CutLayer
from score_embed.solve.enumerate import EnumerateLayer
from score_embed.solve.equality import EqualityLayer
from score_embed.solve.finite import FiniteLayer
from score_embed.solve.local import SearchLayer
from score_embed.solve.query import Answer, Limit, Query, Result, Solver
from score_embed.solve.ranges import RangeLayer
from score_embed.solve.smt import LearningLayer, PathLayer, SmtLayer

HERE = Path(__file__).resolve().parent
TESTS = {"tokenizer": 1500, "packet": 400, "arithmetic": 60, "sort": 720, "match": 1200}
TABLES = {"crc16": (12, 200), "tlv": (5, 500), "utf8": (8, 300), "regex": (5, 300), "names": (12, 100)}  # bytes, tests
ASKED = 800  # questions of a stream that are answered: more are thinned out
BEHIND = "behind the layers"
PATIENCE = 60.0  # seconds for one way and one stream; what is left then is extrapolated


def staying(inner: Solver) -> Solver:
    """Z3's solvers that stay, each for its kind of arithmetic."""
    return ArithmeticLayer(inner, LearningLayer(inner), PathLayer(inner))


def bitwuzla(inner: Solver) -> Solver:
    first = BitwuzlaLayer(inner)
    return ArithmeticLayer(inner, first, first)


def choices(inner: Solver) -> Solver:
    return ChoicesLayer(DomainLayer(EqualityLayer(ModelLayer(FiniteLayer(Nobody())))), inner, Limit())


def cut(inner: Solver) -> Solver:
    quick = DomainLayer(EqualityLayer(FiniteLayer(EnumerateLayer(Nobody()))))
    return CutLayer(quick, inner, SearchLayer(SmtLayer()))


LAYERS: dict[str, Callable[[Solver], Solver]] = {
    "domain": DomainLayer,
    "equality": EqualityLayer,
    "cache": CacheLayer,
    "model": ModelLayer,
    "range": RangeLayer,
    "search": SearchLayer,
    "finite": FiniteLayer,
    "enumerate": EnumerateLayer,
    "choices": choices,
    "cut": cut,
    "bitwuzla": bitwuzla,
}
# As `default_chain` has them: those for tables are for formulas that are driven by tables.
CHEAP = ("domain", "equality", "cache", "model", "range", "search")
FOR_TABLES = ("finite", "enumerate", "choices")
LAST = ("cut", "bitwuzla")


class Asked(NamedTuple):
    """A question as a solver gets it. The slicer goes on, so the query is for this moment only."""

    path: Sequence[Expr]
    query: Query


class Timed(NamedTuple):
    seconds: float
    results: Counter[str]

    def __str__(self) -> str:
        return "/".join(str(self.results[result.value]) for result in Result)


def follow(questions: Sequence[Question], every: int) -> Iterator[Asked]:
    """Every so many questions, each on its path."""
    slicer = Slicer()
    marks: list[int] = []
    for number, question in enumerate(questions):
        if question.keep < len(marks):
            slicer.undo(marks[question.keep])
            del marks[question.keep :]
        for condition in question.path[question.keep :]:
            marks.append(slicer.mark())
            slicer.add(condition)
        if number % every == 0:
            yield Asked(question.path, slicer.query(question.target, question.data))


class _Last:
    """The end of a chain: measures one way to use Z3."""

    def __init__(self, variant: Variant) -> None:
        self._variant = variant
        self._answers = staying(SmtLayer())
        self.path: Sequence[Expr] = ()
        self.seconds = 0.0
        self.results: Counter[str] = Counter()

    def solve(self, query: Query) -> Answer:
        began = time.process_time()
        result = self._variant.solve(self.path, query)
        self.seconds += time.process_time() - began
        self.results[result.value] += 1
        # The layers in front learn from answers: those of the same solver, whatever is measured. Its models depend on
        # what else is done with Z3, so a few questions differ from row to row; each is judged by itself.
        answer = self._answers.solve(query)
        if Result.UNKNOWN not in (result, answer.result) and result is not answer.result:
            raise SystemExit(f"the answers differ: {result.value} and {answer.result.value} to {query.target!r}")
        return answer


def variant_seconds(questions: Sequence[Question], variant: Variant, layers: bool) -> Timed:
    every = 1 if layers else max(1, len(questions) // ASKED)
    last = _Last(variant)
    front: Solver = DomainLayer(EqualityLayer(CacheLayer(ModelLayer(last)))) if layers else last
    total = sum(1 for _ in range(0, len(questions), every))
    done = 0
    for asked in follow(questions, every):
        last.path = asked.path
        if layers:
            front.solve(asked.query)
        else:
            began = time.process_time()
            last.results[variant.solve(asked.path, asked.query).value] += 1
            last.seconds += time.process_time() - began
        done += 1
        if last.seconds > PATIENCE:
            break
    return Timed(last.seconds * total / done, last.results)


def chain(without: str = "") -> Solver:
    """All layers but one; without Bitwuzla, Z3's solvers that stay are in its place."""

    def before(inner: Solver, names: Sequence[str]) -> Solver:
        for name in reversed(names):
            if name != without:
                inner = LAYERS[name](inner)
        return inner

    last = before(staying(SmtLayer()) if without == "bitwuzla" else SmtLayer(), LAST)
    return before(TablesLayer(before(last, FOR_TABLES), last), CHEAP)


def chain_seconds(questions: Sequence[Question], without: str) -> tuple[Timed, Counter[str]]:
    layers = chain(without)
    results: Counter[str] = Counter()
    by: Counter[str] = Counter()
    seconds = 0.0
    for asked in follow(questions, 1):
        began = time.process_time()
        answer = layers.solve(asked.query)
        seconds += time.process_time() - began
        results[answer.result.value] += 1
        by[answer.layer] += 1
        if seconds > PATIENCE:
            break
    return Timed(seconds, results), by


def agree(counts: Sequence[Counter[str]], where: str) -> None:
    """Stop if two complete rows contradict each other; unknown contradicts nothing."""
    complete = max(counted.total() for counted in counts)
    decided = {
        tuple(counted[result.value] for result in (Result.SAT, Result.UNSAT))
        for counted in counts
        if counted.total() == complete and not counted[Result.UNKNOWN.value]
    }
    if len(decided) > 1:
        raise SystemExit(f"{where}: the answers differ: {decided}")


def table(title: str, rows: dict[str, list[Timed]], columns: Sequence[str]) -> None:
    """Times as multiples of the best in each column; the counts of answers below."""
    print(f"\n| {title} | " + " | ".join(columns) + " |")
    print("|---|" + "---:|" * len(columns))
    best = [min(row[i].seconds for row in rows.values()) for i in range(len(columns))]
    for name, row in rows.items():
        unknown = [f" ({t.results['unknown']} unknown)" if t.results["unknown"] else "" for t in row]
        cells = (f"{t.seconds / b:.1f}{u}" if t.results else "–" for t, b, u in zip(row, best, unknown, strict=True))
        print(f"| {name} | " + " | ".join(cells) + " |")
    for i, column in enumerate(columns) if title != BEHIND else ():
        agree([row[i].results for row in rows.values()], column)
    first = next(iter(rows.values()))
    print("| best, s | " + " | ".join(f"{b:.2f}" for b in best) + " |")
    print("| sat/unsat/unknown | " + " | ".join(map(str, first)) + " |")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a thirtieth of the tests")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where recordings are and stay")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"{', '.join((*TESTS, *TABLES))} (all)")
    values = parser.parse_args()
    values.programs = values.programs or [*TESTS, *TABLES]
    unknown = [name for name in values.programs if name not in (*TESTS, *TABLES)]
    if unknown:
        parser.error(f"there is no program {unknown[0]}; choose from {', '.join((*TESTS, *TABLES))}")
    with tempfile.TemporaryDirectory() as work:
        folder = values.keep or Path(work)
        folder.mkdir(parents=True, exist_ok=True)
        streams = []
        for name in values.programs:
            file = folder / f"{name}.jsonl"
            if not file.exists():
                size, tests = TABLES.get(name, (0, TESTS.get(name, 0)))
                source, flags = ("tables", [f"-DSIZE={size}"]) if size else (".", [])
                record(HERE / source / f"{name}.c", tests // (30 if values.quick else 1), file, flags)
            streams.append(list(read(file)))
    print("questions: " + ", ".join(f"{n} {len(s)}" for n, s in zip(values.programs, streams, strict=True)))
    ways: dict[str, Callable[[], Variant]] = {
        f"{way}, `{maker}`": partial(VARIANTS[way], MAKERS[maker]) for way in VARIANTS for maker in MAKERS
    }
    ways["scopes, slice, core, Bitwuzla"] = Bitwuzlas
    few = {name: stream for name, stream in zip(values.programs, streams, strict=True) if name in TESTS}
    for layers in (False, True) if few else ():
        rows = {way: [variant_seconds(stream, make(), layers) for stream in few.values()] for way, make in ways.items()}
        table(BEHIND if layers else "alone", rows, list(few))
    rows = {}
    for stream in streams:  # byte sets are computed once for all rows
        chain_seconds(stream, "")
    for without in ("", *LAYERS):
        answered = [chain_seconds(stream, without) for stream in streams]
        rows[f"without {without}" if without else "all layers"] = [timed for timed, _ in answered]
        if not without:
            for name, (_, by) in zip(values.programs, answered, strict=True):
                print(f"\n{name}: " + ", ".join(f"{layer} {count}" for layer, count in by.most_common()))
    table("the chain", rows, values.programs)


if __name__ == "__main__":
    main()
