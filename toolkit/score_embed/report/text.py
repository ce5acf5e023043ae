"""A campaign in words, for the terminal: what was found, what was not reached, and why."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from score_embed.contract.judged import ACCEPT, REFUSE
from score_embed.contract.outcome import Verdict
from score_embed.contract.words import Stop, Unflipped
from score_embed.report import criteria, fingerprints, kinds
from score_embed.report.findings import Findings
from score_embed.results import shown, witnessed
from score_embed.results.bugs import Bug
from score_embed.results.known_bugs import short_id
from score_embed.results.shown import Arrays
from score_embed.results.sourcemap import SourceMap
from score_embed.results.summary import ForkRow, NotFollowed, SolverTotals, Summary
from score_embed.results.testcase import Value, small_stem

# How a campaign ended, in a user's words.
ENDS = {
    Stop.EXHAUSTED: "every feasible path was run",
    Stop.DRAINED: "no test is left to run, but something could not be followed (listed below), so paths may be missing",
    Stop.TIME: "the time was up; more paths may exist",
    Stop.MAX_TESTS: "the number of tests was reached; more paths may exist",
    Stop.BUG: "a bug was found, and --until-bug was given; more bugs and paths may exist",
    Stop.GOAL: "the goal is reached; more paths may exist",
    Stop.INTERRUPTED: "it was stopped; more paths may exist",
    Stop.ERROR: "the target was lost; more paths may exist",
    Stop.KILLED: "its process was killed; this is its last commit, at most a second earlier",
    Stop.RUNNING: "it is running now; this is its last commit",
}
DONE = {ACCEPT: "accepted", REFUSE: "refused"}
_MOST_LOST = 10  # lost tests that are shown
_MOST_VALUES = 12  # of a bug's test; `replay` shows all
CAN_GO_ON = frozenset({Stop.TIME, Stop.MAX_TESTS, Stop.BUG, Stop.GOAL, Stop.INTERRUPTED, Stop.ERROR, Stop.KILLED})

# Why a direction was not taken; {n} is how often, {side} what would have to happen.
_WHY = {
    Unflipped.UNSAT: "impossible on each of the {n} paths to it that were tried (proved by the solver)",
    Unflipped.UNKNOWN: "the solver gave up {n} times: the formula is too hard (64-bit products, chains of %)",
    Unflipped.FIXED: "fixed by the value that its {n} paths have forked on; other values had tests of their own",
    Unflipped.CONCRETE: "whenever it was reached, its value did not depend on any symbolic input",
    Unflipped.MISPREDICTED: "{n} tests were made for it, but went elsewhere: a value was not followed (see below)",
    Unflipped.DIVERGED: "the target did not do what the formulas say ({n} times); see what was not followed",
    Unflipped.BOUND: "cut off by --max-depth or --loop-bound ({n} times)",
    Unflipped.WAITING: "a test for it is known, but was not run before the end: continue the campaign",
    Unflipped.NOT_REACHED: "no test came to this branch at all",
}


# Of ends that the host judged: the target could not say more.
HINTS: dict[str, str] = {
    Verdict.RESET: "the processor started again by itself; if a watch-dog does that, `feed` of the board's profile feeds it",
    Verdict.LOCK_UP: "the processor stopped at a fault that no handler can take, or runs on where no interrupt reaches it",
    Verdict.CORRUPTED: "what came from the target makes no sense: the program overwrote what the probes keep in memory",
}


def headline(summary: Summary) -> str:
    """The campaign in one line."""
    covered, total = summary.coverage.branches_covered, summary.coverage.branches_total
    return (
        f"{summary.program} on {summary.board}: {ended(summary)} after {summary.seconds:.1f} s; "
        f"{summary.paths} paths in {summary.runs} tests, branches {covered}/{total}, bugs {len(summary.bugs)}"
        f"{set_apart(Counter(bug.judged or '' for bug in summary.judged))}"
    )


def set_apart(judged: Mapping[str, int]) -> str:
    """How many bugs the user has accepted and refused; mostly nothing."""
    said = said_apart(judged)
    return f" ({said})" if said else ""


def said_apart(judged: Mapping[str, int]) -> str:
    """The same without brackets."""
    return ", ".join(f"{judged[word]} {done}" for word, done in DONE.items() if judged.get(word))


_NOTHING_MET = "no input fulfils what is assumed of it"


def why_vacuous(summary: Summary) -> str:
    """Of a campaign without any path: what its tests did instead."""
    is_hung = any(row.what == Verdict.WATCHDOG for row in summary.incomplete)
    return "no test came to its end" if is_hung else _NOTHING_MET


def ended(summary: Summary) -> str:
    """How the campaign ended; what was exhausted, only within the bounds that its harness has."""
    if summary.is_vacuous:
        why = why_vacuous(summary)
        assumed = f" ({', '.join(summary.within) or 'SCORE_ASSUME'})" if why == _NOTHING_MET else ""
        return f"nothing explored, {why}{assumed}"
    if summary.stopped is Stop.EXHAUSTED and summary.within:
        return f"exhausted within {', '.join(summary.within)}"
    return str(summary.stopped)


def inputs(values: Mapping[str, int | float | str], arrays: Arrays = (), most: int | None = None) -> str:
    """Those of the program, at most so many, then what stubs gave. `arrays`: those of them that are shown up to a
    count."""
    own = few(shown.readable(shown.without_answers(values), arrays), most)
    return "; ".join([*([", ".join(own)] if own else []), *shown.answers(values)])


def few(values: Mapping[str, Value], most: int | None, asked: AbstractSet[str] = frozenset()) -> list[str]:
    """At most so many, those that tell something (`shown.foremost`), and how many there are besides."""
    kept = values if most is None else shown.foremost(values, most, asked)
    more = len(values) - len(kept)
    return [*(f"{name} = {value}" for name, value in kept.items()), *([f"and {more} more"] if more else [])]


def times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def bugs(found: Findings) -> Iterator[str]:
    """All of them; those of the baseline are notes."""
    for one, is_known in zip(found.bugs, fingerprints.known(found), strict=True):
        yield from bug(one, found.sources, found.folder, found.arrays, is_known=is_known)


def bug(bug: Bug, sources: SourceMap, folder: Path, arrays: Arrays = (), *, is_known: bool = False) -> Iterator[str]:
    """Where, what, with which inputs, and how to see it again. The first line is one that editors and servers know from
    compilers."""
    place = bug.place
    level = "note: known" if is_known else "error" if bug.confirmed else "warning"
    within = f" in {place.function}" if place.function else ""
    with_ = f"{inputs(bug.inputs, arrays, _MOST_VALUES) or 'any input'}{doubt(bug)}{witness(bug)}"
    yield f"{place}: {level}: {kinds.happened(bug.kind)}{within}: {with_} [{bug.kind}]"
    if source := sources.text(place.file, place.line):
        yield f"    {source}"
    if hint := HINTS.get(bug.kind):
        yield f"  {hint}"
    if rests := bug.rests_on:
        yield f"  rests on: {'; '.join(rests)}"
    if len(place.stack) > 1:
        yield f"  called by {', '.join(place.stack[1:])}"
    again = f"again: score-embed replay {shlex.quote(str(folder))} {bug.test}"
    yield f"  seen {times(bug.count)}; id {short_id(bug, sources)}; {again}"


def judged(found: Findings) -> Iterator[str]:
    """The bugs of which the user has said something, a line each, and what was said of none."""
    for bug, line in found.judged:
        within = f" in {bug.function}" if bug.function else ""
        yield f"{bug.place}: {DONE[line.word]}: {kinds.happened(bug.kind)}{within}: {line.why} [{bug.kind}]"
    if found.unmatched:
        yield "said of no bug that was found here:"
        yield from (f"  {line.at}: {line.word} {line.what}" for line in found.unmatched)


def doubt(bug: Bug) -> str:
    """Of a bug that was not seen twice."""
    if bug.confirmed:
        return ""
    return " (did not happen again)" if bug.witness else " (did not happen again on a fresh target)"


def witness(bug: Bug) -> str:
    """Of a bug that the test itself did not show."""
    return f" (seen by gcc's {bug.witness})" if bug.witness else ""


def short_reasons(summary: Summary) -> Iterator[str]:
    """How many branch directions were not taken, by reason."""
    reasons = Counter(row.reason for row in summary.unflipped)
    if reasons:
        yield "branch directions not taken: " + ", ".join(f"{n} {reason}" for reason, n in reasons.most_common())


def lost(found: Findings) -> Iterator[str]:
    """The tests of which nobody knows how they end, and how to run them once more."""
    tests = found.summary.lost_tests
    if not tests:
        return
    again = f"score-embed run --resume {shlex.quote(str(found.folder))} --retry-lost"
    yield f"lost tests: {len(tests)}; their ends are not known; once more: {again}"
    for test in tests[:_MOST_LOST]:
        where = f"{test.file}:{test.line}: " if test.file else ""
        named = f"test {test.test}" if test.test is not None else "a test"
        more = "…" if 2 * test.bytes > len(test.input) else ""
        yield f"  {where}{named}, input {test.input or '(none)'}{more}: {test.why}"
    if len(tests) > _MOST_LOST:
        yield f"  … and {len(tests) - _MOST_LOST} more: they are in summary.json"


_CAUSES: dict[str, str] = {
    Verdict.WATCHDOG: "watchdog: no end and no branch for too long",
}


def cause(what: str) -> str:
    """What could not be followed, in words."""
    return _CAUSES.get(what, what)


def incomplete(summary: Summary, most: int | None = None) -> Iterator[str]:
    """What the campaign could not follow; at most `most` lines of each kind."""
    written = [row for row in summary.incomplete if not row.count]
    lost = [row for row in summary.incomplete if row.count]
    yield from _rows("left as written:", written, most)
    yield from _rows("not followed, so paths may be missing:", lost, most)


def _rows(title: str, rows: Sequence[NotFollowed], most: int | None) -> Iterator[str]:
    if rows:
        yield title
    for row in rows[:most]:
        where = f"{row.file}:{row.line}: " if row.file else ""
        often = f" ({times(row.count)})" if row.count else ""
        yield f"  {where}{cause(row.what)}{often}"
    if most is not None and len(rows) > most:
        yield f"  … and {len(rows) - most} more: score-embed report shows all"


def full(found: Findings) -> Iterator[str]:
    """The whole report."""
    yield from _totals(found)
    yield from _titled(f"bugs ({len(found.bugs)})", _bugs(found))
    yield from _titled("accepted and refused", judged(found))
    yield from _titled("branch coverage (directions taken)", _coverage(found))
    yield from _titled("branch directions not taken, and why", _unflipped(found))
    summary = found.summary
    yield from _titled("statement coverage", criteria.statement_lines(summary.statements, summary.within))
    yield from _titled("MC/DC", criteria.mcdc_lines(summary.mcdc, summary.within))
    yield from _titled("forks on values", _forks(summary.forks))
    yield from _titled("", incomplete(summary))
    yield from _titled("solver", _solver(summary.solver))
    yield from _titled("link", _link(summary))
    yield from _titled("second witness", witnessed.lines(summary.witness))
    if found.fleet is not None:
        from score_embed.report import fleet  # here: only campaigns of several clients need it

        yield from _titled("fleet", fleet.lines(found.fleet))


def _titled(title: str, lines: Iterable[str]) -> Iterator[str]:
    body = list(lines)
    if body:
        yield ""
        if title:
            yield f"{title}:"
        indent = "  " if title else ""
        yield from (indent + line for line in body)


def _totals(found: Findings) -> Iterator[str]:
    summary = found.summary
    yield headline(summary)
    stopped = summary.stopped
    yield f"  {stopped}: {ENDS[stopped]}"
    yield from (f"  {line}" for line in criteria.goal_lines(summary.goal, summary.within))
    if summary.within:
        yield f"  within: {', '.join(summary.within)}; what lies beyond was not tried"
    depth = summary.conditions
    yield (
        f"  tests: {summary.runs}, of which {summary.redundant} redundant, {summary.mispredicted} mispredicted; "
        f"conditions of a path: {depth.mean} on average, {depth.max} at most"
    )
    yield from (f"  {line}" for line in lost(found))
    if summary.retried:
        yield f"  retried: {summary.retried} tests whose target died once, and that ended on another one"
    if summary.unchecked:
        yield f"  bounds: {summary.unchecked} accesses through pointers to what nobody knows the size of were not checked"
    made = ", ".join(
        f"{name} {version}" if name == "score-embed" else version for name, version in found.versions.items()
    )
    yield f"  begun {found.program.began}, order {summary.strategy}, seed {summary.seed}; {made}"
    if stopped in CAN_GO_ON:
        yield f"  continue with: score-embed run --resume {shlex.quote(str(found.folder))}"


def _bugs(found: Findings) -> Iterator[str]:
    for item, is_known in zip(found.bugs, fingerprints.known(found), strict=True):
        yield from bug(item, found.sources, found.folder, found.arrays, is_known=is_known)
        yield from (f"  in a debugger: {how}, then {command}" for how, command in debugging(found, item))


def debugging(found: Findings, item: Bug) -> Iterator[tuple[str, str]]:
    """What to build, and the command that gives it the bug's input. Nothing of a whole program: it takes that from
    arguments and standard input."""
    stem = small_stem(item.test) if item.small else next((t.stem for t in found.kept if t.number == item.test), "")
    if not stem or found.program.whole:
        return
    how = "build without score-embed"
    if found.program.entry is not None:
        how = f"build what `score-embed new {found.program.entry.name} …` writes"
        how += f" with {shlex.quote(str(found.folder / 'stubs.c'))}" if found.program.stubs else ""
    how += " and with -fsanitize=address,undefined" if item.witness else ""
    yield how, f"SCORE_INPUT={shlex.quote(str(found.folder / 'bugs' / f'{stem}.bin'))} ./a.out"


def _coverage(found: Findings) -> Iterator[str]:
    """A line for each file, and below it one for each of its functions of which a branch was reached, from the top."""
    for file, functions in sorted(_functions(found).items()):
        covered, total = (sum(counts[i] for counts in functions.values()) for i in (0, 1))
        shown = f"{file} (the harness that --entry made)" if found.is_generated(file) else file
        yield f"{_ratio(covered, total)}  {shown}"
        for function, (taken, of, _) in sorted(functions.items(), key=lambda item: item[1][2]):
            if taken:
                yield f"{_ratio(taken, of)}    {function}"
        unreached = [function for function, (taken, _, _) in functions.items() if not taken]
        if unreached:
            yield f"{' ' * len(_ratio(0, 1))}    no branch reached of: {', '.join(sorted(unreached))}"


def _functions(found: Findings) -> dict[str, dict[str, tuple[int, int, int]]]:
    """By file and function: directions taken, all directions, the first line with a branch."""
    rows: dict[str, dict[str, tuple[int, int, int]]] = {}
    for index, direction in found.sources.directions.items():
        functions = rows.setdefault(direction.file, {})
        taken, total, line = functions.get(direction.function, (0, 0, direction.line))
        functions[direction.function] = taken + (index in found.covered), total + 1, min(line, direction.line)
    return rows


def _ratio(covered: int, total: int) -> str:
    return f"{covered}/{total}".rjust(9) + f"{100 * covered // total}".rjust(5) + " %"


def _unflipped(found: Findings) -> Iterator[str]:
    """By line. Functions of which no branch was reached are named with the coverage, and not once more."""
    functions = _functions(found)
    lost = {(row.file, row.line) for row in found.summary.incomplete if row.count}
    lines: dict[tuple[str, int], dict[str, Counter[str]]] = {}
    stopped = found.summary.stopped
    for row in found.summary.unflipped:
        at = row.file, row.line
        if functions[row.file][row.function][0]:
            why = reason(row.reason, row.count, stopped)
            if row.reason is Unflipped.CONCRETE and at in lost:
                why += ", as far as it was followed (see below)"
            lines.setdefault(at, {}).setdefault(why, Counter())[row.direction] += 1
    unreached = reason(Unflipped.NOT_REACHED, 0, stopped)
    names = {(d.file, d.line): d.function for d in found.sources.directions.values()}
    for (file, line), reasons in sorted(lines.items()):
        yield f"{file}:{line} in {names[file, line] or '?'}: {found.sources.text(file, line)}".rstrip(" :")
        if list(reasons) == [unreached]:
            yield f"  {unreached.replace('this branch at all', 'this line')}"
            continue
        for why, directions in reasons.items():
            which = ", ".join(f"{name} ({n} branches)" if n > 1 else name for name, n in directions.items())
            yield f"  never {which}: {why}"


def reason(why: Unflipped, count: int, stopped: Stop) -> str:
    """Why a direction was not taken, in words; `count`: how often that was so."""
    if why is Unflipped.UNSAT and count == 1:
        text = "impossible on the one path to it that was tried (proved by the solver)"
    else:
        text = _WHY[why].format(n=count)
    if why in (Unflipped.UNSAT, Unflipped.FIXED, Unflipped.NOT_REACHED) and stopped is not Stop.EXHAUSTED:
        text += "; so far"
    return text


def _forks(forks: Sequence[ForkRow]) -> Iterator[str]:
    """What other values of what is used as it is have cost, and where."""
    if forks:
        tests = sum(row.tests for row in forks)
        yield f"{_tests(tests)} for other values of what has no formula, which the program uses as it is:"
    for row in forks:
        where = f"{row.file}:{row.line}" if row.file else "unknown place"
        yield f"  {where}: {_tests(row.tests)}"


def answered(count: int) -> str:
    return "1 question" if count == 1 else f"{count} questions"


def _tests(count: int) -> str:
    return "1 test" if count == 1 else f"{count} tests"


def _solver(solver: SolverTotals) -> Iterator[str]:
    yield (
        f"{solver.sat + solver.unsat + solver.unknown} flips in {solver.seconds:.2f} s: "
        f"{solver.sat} possible, {solver.unsat} impossible, {solver.unknown} given up"
    )
    for layer, count in solver.by.items():
        if count:
            yield f"{layer.ljust(10)} answered {count} in {solver.seconds_by[layer]:.2f} s"
    for layer, count in solver.gave_up.items():
        yield f"{layer.ljust(10)} left {answered(count)} to the next layer: too many steps"


def _link(summary: Summary) -> Iterator[str]:
    link, runs = summary.link, max(1, summary.runs)
    yield (
        f"{link.bytes_in} bytes received, {link.bytes_out} sent "
        f"({link.bytes_in / runs:.0f} and {link.bytes_out / runs:.0f} a test); "
        f"{link.crc_errors} damaged frames, {link.reruns} tests run again for them"
    )
