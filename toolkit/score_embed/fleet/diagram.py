"""The tables of the protocol as diagrams and tables for the documentation, so that these cannot be out of date."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import cast

from score_embed.fleet.protocol import CLIENT, SERVER, Transition

_Table = Mapping[tuple[Enum, Enum], Transition[Enum, Enum]]


def document() -> str:
    """Markdown: for both sides the changes of state as a Mermaid diagram, then the whole table."""
    client, server = cast(_Table, CLIENT), cast(_Table, SERVER)
    sides = ("A client", client), ("A client in the server's table", server)
    return "\n".join(f"### {title}\n\n{_diagram(table)}\n{_matrix(table)}" for title, table in sides)


def _diagram(table: _Table) -> str:
    """The transitions to another state; those between the same two states as one arrow."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for (state, event), to in table.items():
        if to.state is not state:
            arrows.setdefault((state.name, to.state.name), []).append(event.name)
    first = next(iter(table))[0].name
    lines = [f"    {one} --> {other}: {', '.join(events)}" for (one, other), events in arrows.items()]
    return "\n".join(["```mermaid", "stateDiagram-v2", f"    [*] --> {first}", *lines, "```", ""])


def _matrix(table: _Table) -> str:
    """A row an event, a column a state: the action, and the next state if it is another one."""
    states = list(dict.fromkeys(state for state, _ in table))
    events = sorted({event for _, event in table}, key=lambda event: event.value)
    rows = [["event", *(state.name for state in states)], ["---"] * (len(states) + 1)]
    for event in events:
        rows.append([event.name, *(_cell(state, table.get((state, event))) for state in states)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def _cell(state: Enum, to: Transition[Enum, Enum] | None) -> str:
    if to is None:
        return ""
    action = "–" if to.action is None else to.action.name.lower().replace("_", " ")
    return action if to.state is state else f"{action} → {to.state.name}"
