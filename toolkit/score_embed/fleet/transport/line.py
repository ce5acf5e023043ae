"""The ends of the fleet's line: the server's, which hears everybody, and a client's, which also hears other clients.

Frames that cannot be delivered at once are dropped, as on any bad line: the protocol says everything again until it is
answered. Nothing here blocks but `wait` and `reach`, and these end in time.

Each end says of a frame where it came in, because that cannot be forged: the server's end names the key (`Origin`), a
client's end tells what its server said from what anybody said at the address where it listens for other clients. What
strangers can make an end keep is bounded: frames on the way, bytes taken in at a time, connections a second.
"""

from __future__ import annotations

import resource
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import zmq
import zmq.utils.monitor
import zmq.utils.z85

from score_embed.errors import TargetError, UsageError
from score_embed.fleet.messages import MAX_FRAME
from score_embed.fleet.origin import OWN, Origin, Standing
from score_embed.fleet.timers import Allowance
from score_embed.fleet.transport import address as addresses
from score_embed.fleet.transport.hoards import PATIENCE, Hoards
from score_embed.fleet.transport.keys import KeyRing, OwnKeys

_AT_ONCE = 256  # frames that one `wait` returns at most …
_BYTES_AT_ONCE = 16 << 20  # … and bytes, about
_QUEUE = 64  # frames on the way to or from one peer of this user's
_FOREIGN_OUT, _FOREIGN_IN = 16, 4  # … and of others
_LINGER = 2000  # milliseconds that a line that is closed may still send
_HEARTBEAT = 5000  # milliseconds, on tcp
_HANDSHAKE = 5000  # milliseconds that one who connects may take to say who it is
_SEAL = 33  # bytes that CURVE adds to a frame
_PEERS = 64  # clients that one keeps connections to
_REFUSED = zmq.EVENT_HANDSHAKE_FAILED_AUTH | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
_ZAP = "inproc://zeromq.zap.01"
_DOMAIN = b"score-embed"
_COMES, _COMES_AT_ONCE = 2.0, 32  # connections a second of one key, and at once
_LOCAL_COMES, _LOCAL_COMES_AT_ONCE = 16.0, 256  # … of all processes of this machine together, without keys
_GOOD, _LATER, _NEVER = (b"200", b"OK"), (b"300", b"too often"), (b"400", b"unknown key")

Sender = tuple[int, bytes]  # which of the server's sockets, and whose connection there


class Heard(NamedTuple):
    """What the server has heard. `origin`: who said it, as far as that is proved."""

    sender: Sender
    origin: Origin
    frame: bytes


class _End:
    """Sockets that are waited for together."""

    def __init__(self) -> None:
        self._context = zmq.Context()
        self._poller = zmq.Poller()

    def _socket(self, kind: int, foreign: bool) -> zmq.Socket[bytes]:
        socket = self._context.socket(kind)
        socket.setsockopt(zmq.MAXMSGSIZE, MAX_FRAME)
        socket.setsockopt(zmq.SNDHWM, _FOREIGN_OUT if foreign else _QUEUE)
        socket.setsockopt(zmq.RCVHWM, _FOREIGN_IN if foreign else _QUEUE)
        socket.setsockopt(zmq.HANDSHAKE_IVL, _HANDSHAKE)
        socket.setsockopt(zmq.LINGER, 0)
        return socket

    def _bind(self, kind: int, address: str, secret: str | None, judged: bool = False) -> zmq.Socket[bytes]:
        """A socket that listens; on tcp with that secret key, if there is one. `judged`: who connects there is asked
        about."""
        addresses.check(address, secret is not None)
        is_tcp = address.startswith("tcp:")
        socket = self._socket(kind, foreign=is_tcp)
        if is_tcp and secret is not None:
            socket.setsockopt(zmq.MAXMSGSIZE, MAX_FRAME + _SEAL)
            socket.setsockopt(zmq.CURVE_SERVER, 1)
            socket.setsockopt(zmq.CURVE_SECRETKEY, secret.encode())
        if is_tcp and judged:
            socket.setsockopt(zmq.ZAP_DOMAIN, _DOMAIN)
        self._beat(socket, address)
        try:
            socket.bind(address)
        except zmq.ZMQError as error:
            socket.close()
            raise UsageError(f"cannot listen here: {error.strerror}", address, "Choose another address.") from None
        self._poller.register(socket, zmq.POLLIN)
        return socket

    @staticmethod
    def _beat(socket: zmq.Socket[bytes], address: str) -> None:
        if address.startswith("tcp:"):
            socket.setsockopt(zmq.HEARTBEAT_IVL, _HEARTBEAT)
            socket.setsockopt(zmq.HEARTBEAT_TIMEOUT, 4 * _HEARTBEAT)

    def _poll(self, seconds: float) -> set[zmq.Socket[bytes]]:
        """The sockets with something to read."""
        return {socket for socket, _ in self._poller.poll(max(0, int(seconds * 1000)))}

    def close(self) -> None:
        self._context.destroy()


class Listener(_End):
    """The server's end. `also`: an address for others, beside that for processes of this machine."""

    def __init__(self, address: str, keys: KeyRing | None = None, also: str = "") -> None:
        """Raises UsageError if it cannot listen there."""
        super().__init__()
        self._keys = keys
        self._expelled: set[str] = set()  # public keys
        self._comes: dict[str, Allowance] = {}  # by public key; without keys all together
        _allow_connections()
        try:
            self._zap = self._context.socket(zmq.REP)
            self._zap.setsockopt(zmq.LINGER, 0)
            self._zap.bind(_ZAP)
            self._poller.register(self._zap, zmq.POLLIN)
            secret = keys.keys.secret if keys is not None else None
            self._routers = [self._bind(zmq.ROUTER, each, secret, judged=True) for each in (address, also) if each]
        except UsageError:
            self._context.destroy()
            raise
        ends = [router.getsockopt_string(zmq.LAST_ENDPOINT) for router in self._routers]
        self._is_own = [end.startswith("ipc:") for end in ends]
        pairs = zip(self._routers, self._is_own, strict=True)
        self._hoards = [None if own else Hoards(router, _FOREIGN_IN) for router, own in pairs]
        self.address, self.also = ends[0], ends[1] if also else ""

    def wait(self, seconds: float) -> list[Heard]:
        """What has come; waits for so long, at most, if there is nothing."""
        found: list[Heard] = []
        size = 0
        ready = self._poll(min(seconds, PATIENCE) if any(self._hoards) else seconds)
        if self._zap in ready:
            self._answer_zap()
        for number, (router, hoards) in enumerate(zip(self._routers, self._hoards, strict=True)):
            drained = router not in ready
            while router in ready and len(found) < _AT_ONCE * (number + 1) and size < _BYTES_AT_ONCE * (number + 1):
                try:
                    sender, *frames = router.recv_multipart(zmq.NOBLOCK, copy=False)
                except zmq.Again:
                    drained = True
                    break
                if hoards is not None:
                    hoards.heard(frames[-1] if frames else sender)
                origin = OWN if self._is_own[number] else self._origin(frames[-1]) if frames else None
                if len(frames) == 1 and origin is not None:
                    found.append(Heard((number, sender.bytes), origin, frames[0].bytes))
                    size += len(found[-1].frame)
            if hoards is not None:
                hoards.cut(drained)
        return found

    def send(self, to: Sender, frame: bytes) -> None:
        """To whom a frame came from. Dropped if there is nobody, or too much is on the way."""
        number, peer = to
        try:
            self._routers[number].send_multipart([peer, frame], zmq.NOBLOCK)
        except zmq.ZMQError:
            return

    def expel(self, origin: Origin) -> None:
        """Hear this key no more."""
        if origin.public:
            self._expelled.add(origin.public)

    def close(self) -> None:
        for hoards in self._hoards:
            if hoards is not None:
                hoards.close()
        self._context.destroy(_LINGER)

    def _origin(self, frame: zmq.Frame) -> Origin | None:
        host = str(frame.get("Peer-Address"))
        if self._keys is None:
            return Origin(Standing.LOOPBACK, host=host)
        public = str(frame.get("User-Id"))
        return None if public in self._expelled else self._keys.origin(public, host)

    def _answer_zap(self) -> None:
        """Who may connect? Whose key is known, and not too often."""
        version, sequence, _domain, host, _identity, mechanism, *credentials = self._zap.recv_multipart()
        public = "".join(zmq.utils.z85.encode(key).decode() for key in credentials if len(key) == 32)
        verdict = _GOOD
        if self._keys is None:
            public = ""
        elif mechanism != b"CURVE" or public in self._expelled or self._keys.origin(public, host.decode()) is None:
            verdict = _NEVER
        if verdict is _GOOD and not self._may_come(public):
            verdict = _LATER
        self._zap.send_multipart([version, sequence, *verdict, public.encode(), b""])

    def _may_come(self, public: str) -> bool:
        """Each connection costs memory."""
        allowance = self._comes.get(public)
        if allowance is None:
            allowed = (_COMES, _COMES_AT_ONCE) if public else (_LOCAL_COMES, _LOCAL_COMES_AT_ONCE)
            allowance = self._comes[public] = Allowance(*allowed)
        return allowance.take(1, time.monotonic())


def _allow_connections() -> None:
    """Each connection is a descriptor, also of one who does not say who it is: as many as the system lets us have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Caller(_End):
    """A client's end. `listen`: where other clients hand pairs over directly, if they can reach it. Who knows its
    public key can connect there; what comes in is for the protocol to judge, by tickets."""

    def __init__(self, server: str, keys: OwnKeys | None = None, listen: str = "") -> None:
        super().__init__()
        self._server, self._keys = server, keys
        try:
            self._dealer = self._connect_server(server)
            self._pull = self._bind(zmq.PULL, listen, keys.secret if keys is not None else None) if listen else None
        except UsageError:
            self._context.destroy()
            raise
        self.address = self._pull.getsockopt_string(zmq.LAST_ENDPOINT) if self._pull is not None else ""
        is_tcp = self._pull is not None and self.address.startswith("tcp:")
        self._hoards = Hoards(self._pull, _FOREIGN_IN) if self._pull is not None and is_tcp else None
        self._peers: OrderedDict[tuple[str, str], zmq.Socket[bytes]] = OrderedDict()

    def _connect_server(self, server: str) -> zmq.Socket[bytes]:
        dealer = self._connect(zmq.DEALER, server, self._keys.server if self._keys else "", at_once=True)
        self._monitor = dealer.get_monitor_socket(_REFUSED)
        self._poller.register(dealer, zmq.POLLIN)
        return dealer

    def _connect(self, kind: int, address: str, other: str, at_once: bool = False) -> zmq.Socket[bytes]:
        """`other`: the public key of who listens there. `at_once`: nothing is kept for a peer that is not there."""
        addresses.check(address, self._keys is not None)
        socket = self._socket(kind, foreign=False)
        socket.setsockopt(zmq.IMMEDIATE, int(at_once))
        try:
            if self._keys is not None and address.startswith("tcp:"):
                socket.setsockopt(zmq.MAXMSGSIZE, MAX_FRAME + _SEAL)
                socket.setsockopt(zmq.CURVE_SERVERKEY, other.encode())
                socket.setsockopt(zmq.CURVE_PUBLICKEY, self._keys.public.encode())
                socket.setsockopt(zmq.CURVE_SECRETKEY, self._keys.secret.encode())
            self._beat(socket, address)
            socket.connect(address)
        except zmq.ZMQError:
            socket.close()
            raise
        return socket

    def reach(self, seconds: float, enough: Callable[[], bool] = lambda: False) -> bool:
        """Wait until the server is there; False if there is `enough` of that before. Raises TargetError if it does not
        come, or does not want us."""
        deadline = time.monotonic() + seconds
        while not self._dealer.poll(100, zmq.POLLOUT):
            if enough():
                return False
            if self._monitor.poll(0):
                zmq.utils.monitor.recv_monitor_message(self._monitor)
                what = "the server does not accept this key" if self._keys else "the server wants a key"
                raise TargetError(
                    what, self._server, "Give a key that was made with the server's: --keys FILE."
                )
            if time.monotonic() > deadline:
                what = f"no server answered within {seconds:.0f} s"
                hint = "Does it run, is the address right, and do both ends have keys or none?"
                raise TargetError(what, self._server, hint)
        return True

    @property
    def connected(self) -> bool:
        """The server is there, as far as the line knows."""
        return bool(self._dealer.poll(0, zmq.POLLOUT))

    def wait(self, seconds: float) -> list[tuple[bool, bytes]]:
        """The frames that have come, and whether it was the server that said them; waits for so long, at most, if there
        are none."""
        found: list[tuple[bool, bytes]] = []
        ready = self._poll(min(seconds, PATIENCE) if self._hoards else seconds)
        for socket in (self._dealer, self._pull):
            while socket is not None and socket in ready and len(found) < _AT_ONCE:
                try:
                    frames = socket.recv_multipart(zmq.NOBLOCK, copy=False)
                except zmq.Again:
                    break
                if self._hoards is not None and socket is self._pull:
                    self._hoards.heard(frames[-1])
                if len(frames) == 1:
                    found.append((socket is self._dealer, frames[0].bytes))
        if self._hoards is not None:
            self._hoards.cut(len(found) < _AT_ONCE)
        return found

    def listen_no_more(self) -> None:
        """Somebody sends what nobody asked for: other clients hand over by way of the server from now on."""
        if self._pull is not None:
            self._poller.unregister(self._pull)
            if self._hoards is not None:
                self._hoards.close()
            self._pull.close()
            self._pull = self._hoards = None

    def send(self, frame: bytes) -> None:
        """To the server. Dropped if it is not there."""
        try:
            self._dealer.send(frame, zmq.NOBLOCK)
        except zmq.ZMQError:
            return

    def send_to(self, address: str, key: str, frame: bytes) -> None:
        """To another client, who has that public key. Dropped if it does not take it."""
        try:
            self._peer(address, key).send(frame, zmq.NOBLOCK)
        except (zmq.ZMQError, UsageError, ValueError):
            return

    def _peer(self, address: str, key: str) -> zmq.Socket[bytes]:
        peer = self._peers.pop((address, key), None)
        if peer is None:
            peer = self._connect(zmq.PUSH, address, key)
            if len(self._peers) >= _PEERS:
                _, oldest = self._peers.popitem(last=False)
                oldest.close()
        self._peers[address, key] = peer
        return peer

    def close(self) -> None:
        """What was said last may still go out."""
        self._dealer.disable_monitor()
        if self._hoards is not None:
            self._hoards.close()
        for peer in self._peers.values():
            peer.close(_LINGER)
        self._context.destroy(_LINGER)
