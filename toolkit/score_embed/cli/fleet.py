"""`score-embed fleet`: many clients on one exploration. `simulate`: how many are worth it; `record`: trees for that;
the rest: orders to a server (`orders`)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from score_embed import places, userfile, yamlfile
from score_embed.cli import orders, words
from score_embed.errors import UsageError, printable
from score_embed.fleet.process.recording import record_tree
from score_embed.fleet.simulation import rehearsal
from score_embed.fleet.simulation.recorded import Recording
from score_embed.fleet.simulation.rehearsal import MOST_CLIENTS, Plan
from score_embed.fleet.simulation.simulate import Costs
from score_embed.fleet.simulation.trees import SHAPES
from score_embed.report import fleet as report
from score_embed.report import plots
from score_embed.report.output import folder_of, write, write_bytes
from score_embed.report.page import campaign
from score_embed.report.page import fleets as page
from score_embed.results.fleet import FleetFigures

_SIMULATE = """Run the protocol of the fleet in simulated time: one server, many clients, a campaign whose tests are made
up or recorded from a real one. Prints the tables of SCORE's paper for it, beside those that it published. One seed, one result."""
_MOST_RECORDED = 64 << 20  # bytes of a recorded tree
_COSTS = {
    "test": "of a test on average (50ms; of a recorded tree: as recorded)",
    "latency": "of a message, at least",
    "jitter": "of a message, at most so much more",
    "commit": "of a transaction of the record …",
    "row": "… and of each test in it",
    "message": "for the server to take a message in …",
    "result": "… and each test in it",
}


def add_arguments(top: argparse.ArgumentParser) -> None:
    what = top.add_subparsers(
        dest="what", metavar="status | add | remove | assign | stop | simulate | record", required=True
    )
    orders.add_parsers(what)
    _add_simulate(what)
    _add_record(what)


def _add_simulate(what: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    sub = what.add_parser("simulate", help="a fleet in simulated time", description=_SIMULATE, allow_abbrev=False)
    sub.add_argument(
        "--clients",
        type=words.counts(MOST_CLIENTS),
        default=[1, 4, 16, 64],
        metavar="N,…",
        help="numbers of clients (1,4,16,64)",
    )
    sub.add_argument("--shape", choices=sorted(SHAPES), default="balanced", help="how tests bring others (balanced)")
    sub.add_argument("--tree", metavar="NAME|FILE", help="the recorded tree of a real campaign instead")
    sub.add_argument("--tests", type=words.count, metavar="N", help=f"tests a client to the end ({rehearsal.EACH})")
    sub.add_argument("--time", type=words.duration, metavar="TIME", help="stop then, however many tests are left")
    for cost in fields(Costs):
        usual = "" if cost.name == "test" else f" ({words.in_words(getattr(Costs(), cost.name))})"
        help_ = _COSTS[cost.name] + usual
        sub.add_argument(f"--{cost.name}", type=words.cost, metavar="TIME", help=help_)
    sub.add_argument("--seed", type=words.number, default=0, metavar="N", help="seed of the tree and of all chance (0)")
    sub.add_argument("--faults", type=words.number, metavar="SEED", help="let go wrong what this seed says")
    sub.add_argument("--relayed", action="store_true", help="clients do not reach each other")
    sub.add_argument(
        "--out", type=words.path, metavar="DIR", help="write the tables (Markdown, CSV), plots (SVG) and a page there"
    )
    sub.add_argument("--html", type=words.path, metavar="FILE", help="write one HTML page with all of it")
    sub.set_defaults(execute=_simulate)


def _add_record(what: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    sub = what.add_parser(
        "record",
        help="record a campaign's tree for `fleet simulate`",
        description="Explore a campaign once more and write down which test brought which, and what each took.",
        allow_abbrev=False,
    )
    sub.add_argument("folder", type=words.path, metavar="DIR", help="folder of a campaign, such as score-out/latest")
    sub.add_argument("file", type=words.path, metavar="FILE", help="file to write, such as program.tree")
    sub.add_argument("--max-tests", type=words.count, metavar="N", help="only so many tests (all of the campaign)")
    sub.add_argument("--port", metavar="PORT", help="where the board is now")
    sub.add_argument("--trust", action="store_true", help=words.TRUST)
    sub.set_defaults(execute=_record)


def _record(values: argparse.Namespace) -> int:
    found = record_tree(values.folder, values.max_tests, values.port, values.trust)
    data = found.to_bytes()
    write_bytes(values.file, data)
    print(printable(f"{values.file}: {_about(found)}; {len(data)} bytes"))
    return 0


def _about(found: Recording) -> str:
    """How much, how fast, and how many clients it has work for."""
    part = "" if found.complete else " (not all there are)"
    return (
        f"{found.tests} tests{part} of {found.program} on {found.board}, order {found.strategy}, "
        f"{words.in_words(found.mean)} each; work for {found.width:.1f} clients on average at most"
    )


def _simulate(values: argparse.Namespace) -> int:
    if values.tree is not None and values.tests is not None:
        raise UsageError("a recorded tree has as many tests as it has", "command line", "Leave out --tests.")
    if values.out is not None:
        plots.require()
        folder_of(values.out)
    if values.html is not None:
        folder_of(values.html.parent)
    recording = _recording(values.tree) if values.tree is not None else None
    plan = Plan(
        values.shape,
        values.tests or (None if values.time else rehearsal.EACH),
        recording,
        values.time,
        rehearsal.costs({cost.name: getattr(values, cost.name) for cost in fields(Costs)}, recording),
        values.seed,
        values.faults,
        not values.relayed,
    )
    print(printable(_title(plan)))
    fleets = []
    for clients in values.clients:
        print(f"simulating {clients} clients", file=sys.stderr, flush=True)
        fleets.append(plan.run(clients))
    for table in report.tables(fleets):
        print(f"\n{table.markdown()}", end="")
    if values.out is not None:
        _write(fleets, values.out, _title(plan))
    if values.html is not None:
        write(values.html, page.of_simulation(fleets, _title(plan)))
        print(f"wrote {values.html}", file=sys.stderr)
    return 0


def _recording(name: str) -> Recording:
    shipped = places.shipped("simulators")
    path = next((path for path in (Path(name), shipped / f"{name}.tree") if path.is_file()), None)
    if path is None:
        known = yamlfile.suggestion(name, [path.stem for path in shipped.glob("*.tree")])
        raise UsageError(f"there is no recorded tree {name!r}", "command line", known)
    hint = "Give a file that `score-embed fleet record` made."
    return Recording.from_bytes(userfile.read(path, "this file", _MOST_RECORDED, hint), str(path))


def _title(plan: Plan) -> str:
    what = f"a tree of tests, {plan.shape}"
    if plan.recording is not None:
        what = _about(plan.recording)
    elif plan.each is not None:
        what += f", {plan.each} for each client"
    end = f", for {words.in_words(plan.seconds)}" if plan.seconds is not None else ""
    costs = ", ".join(f"{cost.name} {words.in_words(getattr(plan.costs, cost.name))}" for cost in fields(Costs))
    faults = f", faults {plan.faults}" if plan.faults is not None else ""
    return f"Simulated: {what}{end}; {costs}; seed {plan.seed}{faults}."


def _write(fleets: Sequence[FleetFigures], folder: Path, title: str) -> None:
    tables = report.tables(fleets)
    write(folder / "fleet.md", "\n".join([f"{title}\n", *(table.markdown() for table in tables)]))
    for name, table in zip(("tests", "messages", "efficiency", "workload"), tables, strict=True):
        write(folder / f"{name}.csv", table.csv())
        if table.published is not None:
            write(folder / f"{name}-paper.csv", table.published.csv())
    write(
        folder / "tests.svg",
        plots.tests_over_clients(
            {"simulated": [(len(fleet.clients), fleet.rate) for fleet in fleets]}, "tests a second"
        ),
    )
    write(folder / "workload.svg", plots.workload([(str(len(fleet.clients)), fleet.workload) for fleet in fleets]))
    write(
        folder / "redundancy.svg",
        plots.not_redundant({"simulated": [(len(fleet.clients), 1 - fleet.redundancy) for fleet in fleets]}),
    )
    write(folder / campaign.FILE, page.of_simulation(fleets, title))
    print(f"wrote {folder}", file=sys.stderr)
