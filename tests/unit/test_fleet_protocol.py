"""The two tables: complete, sane, carried out action by action, and in the documentation as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from score_embed.fleet import diagram
from score_embed.fleet.client.client import Client
from score_embed.fleet.client.conversation import ClientTimer
from score_embed.fleet.client.queue import Stack
from score_embed.fleet.messages import Peer
from score_embed.fleet.protocol import (
    CLIENT,
    SERVER,
    ClientAction,
    ClientEvent,
    ClientState,
    ServerAction,
    ServerEvent,
    Status,
    Timing,
)
from score_embed.fleet.server.frontier import Snapshot
from score_embed.fleet.server.server import Server

PAGE = Path(__file__).parents[2] / "docs" / "design" / "fleet.md"
BEGIN = "<!-- made from fleet/protocol.py: `pytest tests/unit/test_fleet_protocol.py --update-golden` -->\n"
END = "<!-- until here -->\n"

OWN = {ClientEvent.RAN, ClientEvent.OUT, ClientEvent.WORK, ClientEvent.CLEAR}
INSIDE = {ServerEvent.CHOSEN, ServerEvent.RELIEVED, ServerEvent.REMOVED, ServerEvent.FINISHED, ServerEvent.SILENT}


def test_whatever_message_comes_in_whatever_state_is_foreseen() -> None:
    client = {(state, event) for state in ClientState for event in ClientEvent if event not in OWN}
    server = {(status, event) for status in Status for event in ServerEvent if event not in INSIDE}
    # GONE of its own making comes only as the answer to BYE.
    assert client - CLIENT.keys() == {(ClientState.PARTING, ClientEvent.GONE)} - CLIENT.keys() == set()
    assert server - SERVER.keys() == {(Status.GONE, event) for event in ServerEvent if event not in INSIDE}
    alive = {(status, ServerEvent.SILENT) for status in Status} - {(Status.GONE, ServerEvent.SILENT)}
    assert alive <= SERVER.keys()


def a_client() -> Client:
    return Client(Peer("one", 1), Stack(), Timing())


def a_server() -> Server:
    return Server(Snapshot(0, []), lambda campaign, ids: [], Timing())


def test_each_action_is_used_and_carried_out() -> None:
    assert {to.action for to in CLIENT.values()} - {None} == set(ClientAction) == set(a_client().actions)
    assert {to.action for to in SERVER.values()} - {None} == set(ServerAction) == set(a_server().actions)


def test_each_timer_of_a_client_does_something() -> None:
    assert set(a_client().timers) == set(ClientTimer)


def test_an_action_is_carried_out_by_the_method_of_its_name() -> None:
    for side in (a_client(), a_server()):
        methods = {action.name.lower(): method.__name__.strip("_") for action, method in side.actions.items()}
        wrong = {action: method for action, method in methods.items() if method not in (action, "<lambda>")}
        assert not wrong


def test_every_state_can_be_reached_and_left() -> None:
    for table, first, last in ((CLIENT, ClientState.JOINING, {ClientState.STOPPED}), (SERVER, Status.AWAITED, set())):
        reached, new = {first}, {first}
        while new:
            new = {to.state for (state, _), to in table.items() if state in new} - reached
            reached |= new
        assert reached == set(type(first))
        leaving = {state for (state, _), to in table.items() if to.state is not state}
        assert set(type(first)) - leaving == last | ({Status.GONE} if table is SERVER else set())


def test_stop_comes_from_the_frontier_only() -> None:
    """There is one action that says STOP, and one event that leads to it (and its repetition)."""
    stopping = {
        event
        for (status, event), to in SERVER.items()
        if to.action is ServerAction.STOP and status is not Status.STOPPING
    }
    assert stopping == {ServerEvent.FINISHED}


def test_the_documentation_has_the_tables_as_they_are(request: pytest.FixtureRequest) -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    made, _, after = rest.partition(END)
    if request.config.getoption("--update-golden"):
        made = diagram.document()
        PAGE.write_text(before + BEGIN + made + END + after, encoding="utf-8")
    assert made == diagram.document(), f"{PAGE} is out of date: run this test with --update-golden"
