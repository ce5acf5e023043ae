"""How the fleet's frames travel: addresses, keys, sockets of this machine with and without keys."""

from __future__ import annotations

import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from score_embed.errors import TargetError, UsageError
from score_embed.fleet.messages import MAX_FRAME
from score_embed.fleet.transport import address, keys
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
    server, client = keys.make(tmp_path / "k")
    for path in (server, client):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    mine, theirs = keys.read(server, "server"), keys.read(client, "client")
    assert (mine.public, theirs.public) == (theirs.other, mine.other)
    assert len({mine.public, mine.secret, theirs.public, theirs.secret}) == 4
    with pytest.raises(UsageError, match="already are keys"):
        keys.make(tmp_path / "k")
    with pytest.raises(UsageError, match="keys of a server, not of a client"):
        keys.read(server, "client")
    for text in ("", "{}", "[]", '{"role": "client", "public": "a", "secret": "b", "other": "c"}'):
        client.write_text(text)
        with pytest.raises(UsageError, match="no keys"):
            keys.read(client, "client")
    with pytest.raises(UsageError, match="cannot read"):
        keys.read(tmp_path / "none", "client")


@contextmanager
def fleet(place: str, folder: Path, ours: bool = False) -> Iterator[tuple[Listener, Caller, Caller]]:
    """A server and two clients."""
    server = client = None
    if ours:
        paths = keys.make(folder / "k")
        server, client = keys.read(paths[0], "server"), keys.read(paths[1], "client")
    listen = "tcp://127.0.0.1:*" if place == "tcp" else f"ipc://{folder}/{{}}"
    with (
        closing(Listener(listen.format("server"), server)) as line,
        closing(Caller(line.address, client, listen.format("one"))) as one,
        closing(Caller(line.address, client)) as two,
    ):
        deadline = time.monotonic() + 10
        while not (one.connected and two.connected):
            line.wait(0.02)  # somebody has to judge the keys
            assert time.monotonic() < deadline
        yield line, one, two


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
    with fleet(place, tmp_path, ours) as (line, one, two):
        one.send(b"from one")
        ((sender, frame),) = heard(line)
        assert frame == b"from one"
        line.send(sender, b"x" * 100_000)
        assert heard(one) == [b"x" * 100_000]
        two.send(b"from two")
        ((other, _),) = heard(line)
        assert other != sender
        two.send_to(one.address, b"a gift")
        assert heard(one, line) == [b"a gift"]
        assert (bool(one.address), two.address) == (True, "")
        two.send_to("tcp://192.168.0.1:7" if not ours else "nowhere", b"dropped")
        line.send(b"nobody", b"dropped")
        one.send(b"y" * (MAX_FRAME + 1))  # more than the other end takes: dropped, and the line comes back
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            one.send(b"again")
            if any(frame == b"again" for _, frame in line.wait(0.05)):
                break
        else:
            raise AssertionError("the line did not come back")


def test_who_has_no_key_or_another_is_told(tmp_path: Path) -> None:
    paths, others = keys.make(tmp_path / "k"), keys.make(tmp_path / "other")
    mine, theirs = keys.read(paths[0], "server"), keys.read(others[1], "client")
    stranger = keys.Keys("client", theirs.public, theirs.secret, mine.public)
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
