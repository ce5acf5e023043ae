"""How the fleet's frames travel: addresses, keys, sockets of this machine with and without keys."""

from __future__ import annotations

import os
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import zmq

from score_embed.errors import TargetError, UsageError
from score_embed.fleet.messages import MAX_FRAME
from score_embed.fleet.origin import OWN, Origin, Standing
from score_embed.fleet.transport import address, hoards, keys
from score_embed.fleet.transport.line import Caller, Listener


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("ipc://here", "begins with /"),
        ("ipc:///" + "x" * 110, "at most 107 bytes"),
        ("udp://1.2.3.4:5", "this is no address"),
        ("tcp://host", "this is no address"),
        ("tcp://host:0", "no port"),
        ("tcp://127.0.0.1:70000", "no port"),
        ("tcp://192.168.1.2:5000", "there are no keys"),
        ("tcp://0.0.0.0:5000", "there are no keys"),
        ("tcp://*:5000", "there are no keys"),
        ("tcp://[::]:5000", "there are no keys"),
        ("tcp://build-server:5000", "there are no keys"),
    ],
)
def test_addresses_that_are_refused(given: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        address.check(given, with_keys=False)
    assert caught.value.hint


@pytest.mark.parametrize("given", ["tcp://127.0.0.1:5000", "tcp://127.3.2.1:1", "tcp://[::1]:9", "tcp://localhost:*"])
def test_loopback_needs_no_keys(given: str) -> None:
    assert address.check(given, with_keys=False) == given


def test_beyond_loopback_with_keys() -> None:
    assert address.check("tcp://*:5000", with_keys=True)


def test_keys_are_private_and_never_overwritten(tmp_path: Path) -> None:
    paths = keys.make(tmp_path / "k", ["one", "two"])
    server, orders, one, two = paths
    for path in paths:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    mine, theirs = keys.read_server(server), [keys.read(one), keys.read(two), keys.read(orders, orders=True)]
    assert {their.server for their in theirs} == {mine.public}
    assert (mine.clients, mine.orders) == ({their.name: their.public for their in theirs[:2]}, theirs[2].public)
    secrets = [mine.secret, *(their.secret for their in theirs)]
    assert len({mine.public, *secrets, *(their.public for their in theirs)}) == 8
    with pytest.raises(UsageError, match="already are keys"):
        keys.make(tmp_path / "k")
    with pytest.raises(UsageError, match="already is a key of this name"):
        keys.make(tmp_path / "k", ["one"])
    with pytest.raises(UsageError, match="a server's keys, not a client's"):
        keys.read(server)
    with pytest.raises(UsageError, match="'orders', not a client's"):
        keys.read(orders)
    with pytest.raises(UsageError, match="'one', not the key for orders"):
        keys.read(one, orders=True)
    with pytest.raises(UsageError, match="not a server's"):
        keys.read_server(one)
    for text in ("", "{}", "[]", '{"role": "client", "name": "x", "public": "a", "secret": "b", "server": "c"}'):
        one.write_text(text)
        with pytest.raises(UsageError, match="no keys"):
            keys.read(one)
    with pytest.raises(UsageError, match="cannot read"):
        keys.read(tmp_path / "none")
    with pytest.raises(UsageError, match="a device or a pipe"):
        keys.read(Path("/dev/zero"))
    for name in ("", "7", "a b", "../x", "orders", "server", "x" * 40, "a.b"):
        with pytest.raises(UsageError, match="cannot be called"):
            keys.make(tmp_path / "k", [name])


def test_keys_that_others_can_read_are_refused(tmp_path: Path) -> None:
    server, orders, one = keys.make(tmp_path)
    for path, read in ((server, keys.read_server), (one, keys.read), (orders, partial(keys.read, orders=True))):
        for mode in (0o640, 0o604, 0o620, 0o666):
            path.chmod(mode)
            with pytest.raises(UsageError, match="others can read this key") as caught:
                read(path)
            assert "chmod 600" in caught.value.hint
        path.chmod(0o400)
        read(path)


def test_clients_are_added_and_taken_off_while_the_server_runs(tmp_path: Path) -> None:
    server, *_ = keys.make(tmp_path, ["one"])
    ring = keys.KeyRing(server)
    (two,) = keys.make(tmp_path, ["two"])
    theirs = keys.read(two)
    origin = ring.origin(theirs.public, "1.2.3.4")
    assert origin == Origin(Standing.KEY, "two", theirs.public, "1.2.3.4")
    keys.revoke(tmp_path, "two")
    assert ring.origin(theirs.public, "1.2.3.4") is None
    server.write_text("{")  # while somebody writes it: as it was
    assert ring.origin(keys.read(tmp_path / "one.key").public, "") is not None
    server.unlink()
    assert ring.origin(keys.read(tmp_path / "one.key").public, "") is not None


def test_what_a_key_entitles_to() -> None:
    one, orders = Origin(Standing.KEY, "one"), Origin(Standing.ORDERS, "orders")
    assert [one.may_be(name) for name in ("one", "one.7", "one7", "two", "o", "")] == [True, True] + 4 * [False]
    assert not orders.may_be("orders")
    assert [origin.may_order for origin in (OWN, one, orders, Origin(Standing.LOOPBACK))] == [True, False, True, False]
    assert one.witness("one.7") == "one"


@contextmanager
def fleet(place: str, folder: Path, ours: bool = False) -> Iterator[tuple[Listener, Caller, Caller, list[Any]]]:
    """A server, two clients, and their keys."""
    server: keys.KeyRing | None = None
    clients: list[Any] = [None, None]
    if ours:
        paths = keys.make(folder / "k", ["one", "two"])
        server, clients = keys.KeyRing(paths[0]), [keys.read(path) for path in paths[2:]]
    listen = "tcp://127.0.0.1:*" if place == "tcp" else f"ipc://{folder}/{{}}"
    with (
        closing(Listener(listen.format("server"), server)) as line,
        closing(Caller(line.address, clients[0], listen.format("one"))) as one,
        closing(Caller(line.address, clients[1])) as two,
    ):
        deadline = time.monotonic() + 10
        while not (one.connected and two.connected):
            line.wait(0.02)  # somebody has to judge the keys
            assert time.monotonic() < deadline
        yield line, one, two, clients


def heard(end: Listener | Caller, line: Listener | None = None) -> list[Any]:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if line is not None:
            line.wait(0.0)
        if found := end.wait(0.05):
            return list(found)
    return []


@pytest.mark.parametrize(("place", "ours"), [("ipc", False), ("tcp", False), ("tcp", True)])
def test_there_and_back_and_from_hand_to_hand(place: str, ours: bool, tmp_path: Path) -> None:
    with fleet(place, tmp_path, ours) as (line, one, two, clients):
        one.send(b"from one")
        ((sender, origin, frame),) = heard(line)
        assert frame == b"from one"
        assert origin.standing is {"ipc": Standing.OWN}.get(place, Standing.KEY if ours else Standing.LOOPBACK)
        assert (origin.name, origin.host) == ("one" if ours else "", "" if place == "ipc" else "127.0.0.1")
        line.send(sender, b"x" * 100_000)
        assert heard(one) == [(True, b"x" * 100_000)]
        two.send(b"from two")
        ((other, origin, _),) = heard(line)
        assert (other != sender, origin.name) == (True, "two" if ours else "")
        key = clients[0].public if ours else ""
        two.send_to(one.address, key, b"a gift")
        assert heard(one, line) == [(False, b"a gift")]
        assert (bool(one.address), two.address) == (True, "")
        two.send_to("tcp://192.168.0.1:7" if not ours else "nowhere", "", b"dropped")
        two.send_to(one.address, "no key", b"dropped")
        line.send((0, b"nobody"), b"dropped")
        one.send(b"y" * (MAX_FRAME + 1))  # more than the other end takes: dropped, and the line comes back
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            one.send(b"again")
            if any(heard.frame == b"again" for heard in line.wait(0.05)):
                break
        else:
            raise AssertionError("the line did not come back")


@pytest.mark.parametrize("ours", [False, True])
@pytest.mark.parametrize("size", [1 << 10, 1 << 20])
def test_a_message_of_parts_without_number_is_cut_off(ours: bool, size: int, tmp_path: Path) -> None:
    """No limit of ZeroMQ's is for all parts together."""
    with fleet("tcp", tmp_path, ours) as (line, one, two, clients), zmq.Context() as context:
        for kind, address, key in ((zmq.DEALER, line.address, None), (zmq.PUSH, one.address, clients[0])):
            with context.socket(kind) as liar:
                liar.setsockopt(zmq.LINGER, 0)
                if clients[1] is not None:
                    liar.setsockopt(zmq.CURVE_SERVERKEY, (key.public if key else clients[1].server).encode())
                    liar.setsockopt(zmq.CURVE_PUBLICKEY, clients[1].public.encode())
                    liar.setsockopt(zmq.CURVE_SECRETKEY, clients[1].secret.encode())
                with closing(liar.get_monitor_socket(zmq.EVENT_DISCONNECTED)) as gone:
                    liar.connect(address)
                    for _ in range((64 << 20) // size):
                        liar.send(bytes(size), zmq.SNDMORE)
                    liar.send(b"end")
                    deadline = time.monotonic() + 60
                    while not gone.poll(0):
                        assert not line.wait(0.01)
                        assert not one.wait(0.01)
                        assert time.monotonic() < deadline
                    liar.disable_monitor()
        two.send(b"x" * MAX_FRAME)
        assert [each.frame for each in heard(line)] == [b"x" * MAX_FRAME]


def test_a_number_that_came_back_as_anothers_is_left_alone() -> None:
    """ZeroMQ closes a descriptor, and the next file of this process has its number."""
    with (
        zmq.Context() as context,
        context.socket(zmq.ROUTER) as router,
        socket.create_server(("127.0.0.1", 0)) as other,
    ):
        router.bind("tcp://127.0.0.1:*")
        with (
            closing(hoards.Hoards(router, 4)) as watched,
            socket.create_connection(other.getsockname()) as mine,
            other.accept()[0] as theirs,
            open(os.devnull, "rb") as file,
        ):
            for number, peer in ((mine.fileno(), mine.getpeername()), (theirs.fileno(), theirs.getpeername())):
                watched._lines[number] = hoards._Line(peer, -(1 << 40))
            watched._lines[file.fileno()] = watched._lines[1 << 19] = hoards._Line("", -(1 << 40))
            watched.cut(True)
            assert not watched._lines
            mine.sendall(b"here")
            assert theirs.recv(4) == b"here"
            assert file.read() == b""


def test_large_messages_may_wait(tmp_path: Path) -> None:
    with fleet("tcp", tmp_path) as (line, one, _, _):
        count = 12
        for number in range(count):
            one.send(bytes([number]) * MAX_FRAME)
        time.sleep(1.0)
        found: list[int] = []
        while len(found) < count and (frames := heard(line)):
            found += [each.frame[0] for each in frames]
            time.sleep(0.1)
        assert found == list(range(count))


def test_who_has_no_key_or_another_is_told(tmp_path: Path) -> None:
    paths, others = keys.make(tmp_path / "k"), keys.make(tmp_path / "other")
    mine, theirs = keys.KeyRing(paths[0]), keys.read(others[2])
    stranger = keys.OwnKeys("client", theirs.public, theirs.secret, mine.keys.public)
    with closing(Listener("tcp://127.0.0.1:*", mine)) as line:
        for given in (stranger, theirs, None):
            with closing(Caller(line.address, given)) as caller:
                message = ""
                for _ in range(40):
                    line.wait(0.05)
                    try:
                        caller.reach(0.0)
                    except TargetError as error:
                        message = str(error)
                        if "no server answered" not in message:
                            break
                print(given is None, given is stranger, message)
                assert not caller.connected
                if given is stranger:
                    assert "does not accept this key" in message
                caller.send(b"knock")
                assert line.wait(0.1) == []


def test_nobody_there(tmp_path: Path) -> None:
    with closing(Caller(f"ipc://{tmp_path}/none")) as caller, pytest.raises(TargetError, match="no server answered"):
        caller.reach(0.2)
    with closing(Listener(f"ipc://{tmp_path}/one")), pytest.raises(UsageError, match="cannot listen here"):
        Listener(f"ipc://{tmp_path}/no/such/folder")
    with closing(Listener("tcp://127.0.0.1:*")) as line, pytest.raises(UsageError, match="cannot listen here"):
        Listener(line.address)
