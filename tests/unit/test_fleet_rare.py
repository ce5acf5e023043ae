"""What happens rarely in a fleet: words of an earlier server, campaigns mixed up, more than anybody remembers; and that
the simulator notices what must never happen."""

from __future__ import annotations

import random
from typing import Any

import pytest
from test_fleet_parts import ME, THEY, YOU, pair, result
from test_fleet_sides import Line

from score_embed.fleet.client.client import Client
from score_embed.fleet.client.conversation import Conversation
from score_embed.fleet.client.queue import Stack
from score_embed.fleet.client.sharing import Receiving, Sharing
from score_embed.fleet.messages import (
    SERVER,
    VERSION,
    Ack,
    Alive,
    Hello,
    Noted,
    Pairs,
    Peer,
    Receiver,
    Rejoin,
    Req,
    Result,
    Results,
    Settled,
    Stored,
    Welcome,
)
from score_embed.fleet.protocol import REMEMBERED, ClientState, Run, Send, Status, Timing
from score_embed.fleet.server.campaign import Campaign
from score_embed.fleet.server.frontier import Commit, Frontier, Opened, Snapshot, Write
from score_embed.fleet.server.server import Server
from score_embed.fleet.server.sessions import MOST_DEALS, Deals
from score_embed.fleet.simulation.faults import SERVER as THE_SERVER
from score_embed.fleet.simulation.faults import Faults, Partition, schedule
from score_embed.fleet.simulation.journal import Journal, Violation
from score_embed.fleet.tickets import secret_of
from score_embed.fleet.timers import Timers


def said(effects: list[Any]) -> list[Any]:
    return [effect.message for effect in effects if isinstance(effect, Send)]


# A server that has started again ----------------------------------------------------------------------------------


def test_a_client_of_another_campaign_than_the_table_says_is_right() -> None:
    """What it held of the campaign in the table goes to others."""
    line = Line(a=50, b=50)
    line.join("one")
    first = line.to_run.pop("one")[1]
    peer = line.clients["one"].peer
    line.clients.pop("one")
    line.carry_out(None, line.server.receive(Hello(peer, 1, VERSION, "", "", 2, b""), 0.0))
    line.settle()
    session = line.server.session("one")
    assert session is not None
    assert (session.campaign, session.status) == (2, Status.BUSY)
    assert line.server.campaigns[1].frontier.owners() == []
    line.join("two", image=b"image1")
    assert line.to_run["two"][1] == first


def test_a_campaign_that_nobody_has_changes_nothing() -> None:
    line = Line(a=50, b=50)
    line.join("one")
    tree = line.trees[1]
    foreign = Results(line.clients["one"].peer, 1, 77, 5, 0, (tree.run(tree.first),))
    line.carry_out(None, line.server.receive(foreign, 0.0))
    line.settle()
    session = line.server.session("one")
    assert session is not None
    assert session.campaign == 1
    assert line.done == {1: [], 2: []}
    assert not any(isinstance(send.message, Stored) for send in line.messages)


def test_what_comes_before_the_record_is_read_waits() -> None:
    server = Server(Snapshot(0, []), lambda campaign, ids: [], Timing())
    server.open(1, b"", pair(1), 0.0)
    effects = server.start(0.0)
    assert server.receive(Hello(ME, 0, VERSION, "", "", 0, b""), 0.0) == []
    (commit,) = (effect for effect in effects if isinstance(effect, Commit))
    (welcome,) = said(server.committed(commit.number, 0.0))
    assert welcome == Welcome(ME, 1, 1, b"", False, secret_of(b"of nobody", ME))
    assert server.epoch == 1


def test_but_not_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("score_embed.fleet.server.server._EARLY", 2)
    server = Server(Snapshot(0, []), lambda campaign, ids: [], Timing())
    (commit,) = (effect for effect in server.start(0.0) if isinstance(effect, Commit))
    for number in range(4):
        server.receive(Alive(Peer(f"c{number}", 1), 0, 0), 0.0)
    assert [message.to.client for message in said(server.committed(commit.number, 0.0))] == ["c0", "c1"]


def joined(campaign: int = 1, epoch: int = 3) -> Client:
    client = Client(ME, Stack(), Timing())
    client.start(0.0)
    client.receive(Welcome(ME, epoch, campaign, b"", False), 0.0)
    return client


def give(client: Client, *numbers: int, epoch: int = 3) -> list[Any]:
    message = Pairs(ME, epoch << 32 | numbers[0], 1, SERVER, tuple(map(pair, numbers)))
    return client.receive(message, 0.0)


def test_a_welcome_of_an_earlier_server_is_late() -> None:
    client = joined()
    client.receive(Rejoin(ME, 4, given_up=False), 0.0)
    assert said(client.receive(Welcome(ME, 2, 1, b"", True), 0.0)) == []
    assert client._conversation.epoch == 3


def test_a_welcome_of_the_same_server_is_heard() -> None:
    """It says, perhaps once more, whether somebody wants a number of tests."""
    client = joined()
    client.receive(Rejoin(ME, 4, given_up=False), 0.0)
    assert said(client.receive(Welcome(ME, 3, 1, b"", True), 0.0)) == []
    assert client._reporting.batches.whole
    assert not any(isinstance(message, Hello) for message in said(client.tick(60.0)))  # it is not asked for any more


def test_who_went_and_how_is_counted() -> None:
    line = Line(a=30)
    for name in ("one", "two"):
        line.join(name)
    line.carry_out(None, line.server.lost("two", line.now))
    line.carry_out("one", line.clients["one"].leave(line.now, broken=True))
    line.settle()
    assert (line.server.counts["given up"], line.server.counts["handed back"]) == (1, 1)


def test_a_welcome_to_another_campaign_is_answered_with_hello() -> None:
    """It was meant for a HELLO that was said before there was a campaign."""
    client = joined(campaign=2)
    (hello,) = said(client.receive(Welcome(ME, 4, 1, b"", False), 0.0))
    assert isinstance(hello, Hello)
    assert (hello.campaign, client.campaign, client._conversation.epoch) == (2, 2, 3)


def test_a_client_that_is_given_up_while_it_leaves_reports_its_results_all_the_same() -> None:
    line = Line(a=30)
    client = line.join("one")
    line.carry_out("one", client.leave(line.now))
    assert client.state is ClientState.LEAVING
    pair_ = line.to_run.pop("one")[1]
    effects = client.ran((line.trees[1].run(pair_),), line.now)
    (results,) = said(effects)
    assert isinstance(results, Results)
    again = said(client.receive(Rejoin(client.peer, 1, given_up=True), line.now))
    assert [type(message) for message in again] == [Hello, Results]
    assert client.state is ClientState.LEAVING
    line.messages.clear()
    line.carry_out("one", [Send(message) for message in again])
    line.settle()
    assert line.done[1] == [pair_.id]


# What is remembered, and what is not any more ----------------------------------------------------------------------


def test_pairs_that_come_twice_are_taken_once() -> None:
    stack = Stack()
    receiving = Receiving(Conversation(ME, Timing()), stack)
    message = Pairs(ME, 7, 1, SERVER, (pair(1), pair(2)))
    receiving.take(message)
    assert (len(stack), receiving.open) == (0, True)  # nobody has said yet that they are ours
    receiving.take(message)
    receiving.drop_ack(Noted(ME, 7, (pair(2).id,)))
    assert ([one.id for one in stack], receiving.open) == ([pair(1).id], False)
    receiving.take(message)
    assert receiving.open  # the giver does not know that it came
    receiving.drop_ack(Noted(ME, 7, ()))
    assert (len(stack), receiving.open) == (1, False)
    receiving.take(Pairs(ME, 8, 1, SERVER, (pair(3),)))
    receiving.forget()
    receiving.drop_ack(Noted(ME, 8, ()))
    assert len(stack) == 1  # another life took it


def test_of_what_was_taken_the_latest_is_remembered() -> None:
    conversation, stack = Conversation(ME, Timing()), Stack()
    receiving = Receiving(conversation, stack)
    for number in range(REMEMBERED + 1):
        receiving.take(Pairs(ME, number, 1, SERVER, (pair(number),)))
        receiving.drop_ack(Noted(ME, number, ()))
    conversation.take_effects()
    stack.drop([pair(0).id, pair(1).id])
    receiving.take(Pairs(ME, 1, 1, SERVER, (pair(1),)))
    (ack,) = said(list(conversation.take_effects()))
    assert isinstance(ack, Ack)
    assert (ack.turn, len(stack)) == (REMEMBERED + 1, REMEMBERED - 1)
    receiving.take(Pairs(ME, 0, 1, SERVER, (pair(0),)))  # this one is not known any more
    receiving.drop_ack(Noted(ME, 0, ()))
    assert len(stack) == REMEMBERED


def test_of_what_was_answered_too() -> None:
    sharing = Sharing(Timing(hold=1.0))
    assert sharing.share(Stack(), lambda _: False, 0.0) == []
    for number in range(REMEMBERED + 1):
        sharing.hold(Req(ME, number, (Receiver(YOU, ""),)), 0.0)
        sharing.refuse()
    assert sharing.hold(Req(ME, 1, (Receiver(YOU, ""),)), 0.0) == ([], [YOU])
    assert not sharing.asked
    assert sharing.hold(Req(ME, 0, (Receiver(YOU, ""),)), 0.0) == ([], [])
    assert sharing.asked


def test_who_holds_little_gives_nothing() -> None:
    sharing, stack = Sharing(Timing(least=3)), Stack()
    sharing.hold(Req(ME, 7, (Receiver(YOU, ""),)), 0.0)
    stack.add([pair(1), pair(2)])
    assert sharing.share(stack, lambda _: False, 0.0) == []
    stack.add([pair(3)])
    (gift,) = sharing.share(stack, lambda _: False, 0.0)
    assert len(gift.pairs) + len(stack) == 3


def test_what_others_could_have_is_what_the_server_knows() -> None:
    client = joined()
    assert not any(isinstance(effect, Run) for effect in give(client, 1, 2, 3))
    assert (client.waiting, client.sharable) == (0, 0)
    effects = client.receive(Noted(ME, 3 << 32 | 1, ()), 0.0)
    (running,) = (effect.pair for effect in effects if isinstance(effect, Run))
    assert (client.waiting, client.sharable) == (2, 2)
    client.ran((result(int.from_bytes(running.id, "big"), pair(8), pair(9)),), 0.0)
    assert (client.waiting, client.sharable) == (3, 2)  # one of the children runs, one is not reported yet


def test_how_many_pairs_a_client_holds() -> None:
    frontier = Frontier(1, {pair(1).id: ME, pair(2).id: ME, pair(3).id: YOU})
    assert [frontier.held(peer) for peer in (ME, YOU, THEY)] == [2, 1, 0]
    frontier.move(pair(2).id, YOU)
    assert [frontier.held(peer) for peer in (ME, YOU, THEY)] == [1, 2, 0]


# The simulator ------------------------------------------------------------------------------------------------------


def commit(**write: Any) -> Commit:
    parts: dict[str, Any] = {"campaign": 1, "tests": (), "known": [], "moved": [], **write}
    return Commit(1, 1, [Write(**parts)])


def test_the_simulator_s_record_takes_each_pair_once() -> None:
    journal = Journal()
    journal.apply(commit(known=[(pair(1), ME), (pair(2), None)]))
    journal.apply(commit(tests=(result(1),), moved=[(pair(2).id, YOU), (pair(9).id, YOU)]))
    assert (journal.known, journal.done) == (1, 1)
    assert journal.records[1].owner == {pair(2).id: YOU}
    journal.apply(commit(known=[(pair(1, b""), ME)]))  # it is done: nobody needs its data
    assert (journal.known, journal.done) == (1, 1)
    with pytest.raises(Violation, match="recorded twice"):
        journal.apply(commit(tests=(result(1),)))
    with pytest.raises(Violation, match="without its data"):
        journal.apply(commit(known=[(pair(3, b""), ME)]))


def test_the_simulator_s_record_is_read_by_campaign() -> None:
    journal = Journal()
    assert (journal.read(1, [pair(1).id]), pair(1).id in journal.past(1, [pair(1).id])) == ([], False)
    journal.apply(commit(known=[(pair(1), ME), (pair(2), None), (pair(3), YOU)]))
    journal.apply(commit(tests=(result(1),), aside=(pair(2).id,)))
    assert journal.read(1, [pair(n).id for n in (1, 2, 3, 9)]) == [pair(3)]
    assert [pair(n).id in journal.past(1, ()) for n in (1, 2, 3, 9)] == [True, True, False, False]
    assert pair(1).id not in journal.past(2, ())
    (opened,) = journal.snapshot().campaigns
    assert (opened.campaign, opened.frontier) == (1, {pair(3).id: YOU})


def test_a_server_that_dies_in_a_commit_has_all_of_it_or_nothing() -> None:
    rng, known = random.Random(5), set()
    for _ in range(20):
        journal = Journal()
        journal.interrupt(commit(known=[(pair(1), ME), (pair(2), ME)]), rng)
        known.add(journal.known)
    assert known == {0, 2}


# A campaign of the server's --------------------------------------------------------------------------------------


def campaign(*known: int, limit: int | None = None) -> Campaign:
    made = Campaign(Opened(1, b"", {}, limit), Timing(), random.Random(0))
    for number in known:
        made.frontier.add(pair(number), ME)
    return made


def reported(*results: Result) -> Results:
    return Results(ME, 1, 1, 1, 0, results)


def test_a_child_without_its_data_is_one_that_the_batch_is_done_with() -> None:
    """Nobody could run another one, so it is no child."""
    made = campaign(0)
    bare, other = pair(1, b""), pair(2, b"")
    taken = made.record(reported(result(0, bare, other, pair(3)), result(1)), ME)
    assert (taken.new, taken.refused) == (2, ())
    assert [pair(n).id in made.frontier for n in range(4)] == [False, False, False, True]
    # It has to come later in the batch: what was done before has told of its children.
    made = campaign(0, 1)
    assert made.record(reported(result(1), result(0, bare)), ME).new == 2
    assert not len(made.frontier)


def test_only_who_has_a_pair_can_lose_a_target_with_it() -> None:
    made = campaign(0)
    assert [made.fail(pair(0).id, YOU, "a"), made.fail(pair(9).id, ME, "a")] == [False, False]
    assert [made.fail(pair(0).id, ME, who) for who in ("a", "a", "b", "c")] == [False, False, False, True]
    assert pair(0).id not in made.frontier
    made.repeat([pair(0, b"again"), pair(5)])
    assert made.repeats
    assert [made.frontier.owner(pair(n).id) for n in (0, 5)] == [None, None]


def test_a_campaign_is_full_when_it_has_as_many_tests_as_were_wanted() -> None:
    assert not campaign(0).limited
    made = campaign(0, 1, limit=1)
    assert (made.limited, made.full) == (True, False)
    taken = made.record(reported(result(0), result(1, pair(2))), ME)
    assert (taken.new, taken.drop, made.full) == (1, (pair(2).id,), True)
    assert pair(1).id in made.frontier  # it stays to be done


@pytest.mark.parametrize("asked", [False, True])
def test_who_gave_what_was_not_its_own_hears_of_it_only_if_it_was_asked(asked: bool) -> None:
    line = Line(a=50)
    for name in ("one", "two"):
        line.join(name)
    one, two = (line.clients[name].peer for name in ("one", "two"))
    if asked:
        line.server._table.deals.open(5, one, two)
    line.messages.clear()
    strange = (pair(77).id,)
    line.carry_out(None, line.server.receive(Ack(two, 1, 5, one, 9, strange, bytes(8)), line.now))
    line.settle()
    sent = [send.message for send in line.messages if isinstance(send.message, Noted | Settled)]
    assert Noted(two, 5, strange) in sent
    assert (Settled(one, 5, two, taken=True) in sent) == asked


def test_deals_are_closed_once_and_the_oldest_is_forgotten() -> None:
    deals = Deals()
    assert not deals.close(1, ME, YOU)
    deals.open(1, ME, YOU)
    assert (deals.is_open(1, ME, YOU), deals.is_open(2, ME, YOU), deals.is_open(1, YOU, ME)) == (True, False, False)
    assert (deals.close(2, ME, YOU), deals.close(1, ME, YOU), deals.close(1, ME, YOU)) == (False, True, False)
    for req in range(MOST_DEALS + 1):
        deals.open(req, ME, YOU)
    assert [deals.is_open(req, ME, YOU) for req in (0, 1, MOST_DEALS)] == [False, True, True]
    deals.open(7, YOU, ME)
    assert deals.close_to(ME) == [(7, YOU)]
    assert (deals.is_open(7, YOU, ME), deals.is_open(1, ME, YOU)) == (False, True)
    deals.forget(ME)
    assert not deals.is_open(1, ME, YOU)


def test_every_kind_of_fault_is_scheduled_for_some_seed() -> None:
    made = [schedule(seed, 8, 10.0, 3.0, 2) for seed in range(60)]
    crashes = [crash for one in made for crash in one.crashes]
    assert {crash.node for crash in crashes} == {THE_SERVER, *range(8)}
    assert all(crash.down is not None for crash in crashes if crash.node in (THE_SERVER, 0))  # they come back
    assert any(crash.down is None for crash in crashes)
    for kind in ("loss", "twice", "late", "partitions", "changes"):
        assert 10 < sum(bool(getattr(one, kind)) for one in made) < 50
    changes = [change for one in made for change in one.changes]
    assert any(change.comes is not None for change in changes)
    assert {change.to for change in changes} >= {None, 1, 2}
    assert any(change.by_itself and change.goes for change in changes)


def test_faults_are_as_scheduled() -> None:
    rng = random.Random(1)

    def fates(now: float = 0.0, **shares: Any) -> list[list[float]]:
        faults = Faults(end=9.0, **shares, partitions=(Partition(5.0, 6.0, frozenset({1})),))
        return [faults.fates(rng, now, 1, 2) for _ in range(200)]

    assert fates() == [[0.0]] * 200
    assert fates(twice=1.0) == [[0.0, 0.0]] * 200
    assert fates(loss=1.0) == fates(now=5.5) == [[]] * 200
    assert fates(now=6.0) == fates(now=9.0, loss=1.0) == [[0.0]] * 200
    late = [pause for (pause,) in fates(late=1.0, lateness=4.0)]
    assert 0 <= min(late) < 0.5 < 3.5 < max(late) < 4
    assert 60 < sum(len(copies) == 2 for copies in fates(twice=0.5)) < 140


@pytest.mark.parametrize(("leaves", "back"), [(False, True), (True, False)])
def test_pairs_whose_receiver_is_gone_come_back_to_who_stays(leaves: bool, back: bool) -> None:
    client = joined()
    give(client, 1, 2, 3, 4)
    client.receive(Noted(ME, 3 << 32 | 1, ()), 0.0)
    req = Req(ME, 3 << 32 | 9, (Receiver(YOU, "there"),))
    (gift,) = (message for message in said(client.receive(req, 0.0)) if isinstance(message, Pairs))
    held = client.waiting
    if leaves:
        client.leave(0.0)
    client.receive(Settled(ME, req.req, YOU, taken=False), 0.0)
    assert client.waiting == held + len(gift.pairs) * back


def test_what_was_answered_is_asked_again_without_a_long_pause() -> None:
    timers: Timers[str] = Timers(1.0, 8.0)
    for now, due in ((0.0, 1.0), (1.0, 3.0), (3.0, 7.0)):
        timers.repeat("a", now)
        assert (timers.due(due - 0.1), timers.due(due)) == ([], ["a"])
    timers.clear("a")
    timers.repeat("a", 7.0)
    assert timers.due(8.0) == ["a"]


def test_a_pair_that_three_clients_lose_their_targets_with_is_set_aside() -> None:
    line = Line(a=1)
    first = line.trees[1].first
    for number, name in enumerate(("one", "two", "two", "three"), start=1):
        client = line.clients[name] = Client(Peer(name, number), Stack(), Timing(), "here")
        line.carry_out(name, client.start(line.now))
        line.settle()
        while name not in line.to_run:
            line.step()
        assert line.to_run.pop(name)[1].id == first.id
        line.carry_out(name, client.leave(line.now, broken=True, failed=first.id))  # "two" counts once
        line.settle()
        assert (line.server.counts["set aside"], line.server.campaigns[1].finished) == ((0, False), (1, True))[
            number > 3
        ]
        line.clients.pop(name)
