"""The ends of the fleet's line: the server's, which hears everybody, and a client's, which also hears other clients.

Frames that cannot be delivered at once are dropped, as on any bad line: the protocol says everything again until it is
answered. Nothing here blocks but `wait` and `reach`, and these end in time.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

import zmq
import zmq.utils.monitor
import zmq.utils.z85

from score_embed.errors import TargetError, UsageError
from score_embed.fleet.messages import MAX_FRAME
from score_embed.fleet.transport import address as addresses
from score_embed.fleet.transport.keys import Keys

_AT_ONCE = 256  # frames that one `wait` returns at most
_QUEUE = 64  # frames on the way to one peer
_LINGER = 2000  # milliseconds that a line that is closed may still send
_HEARTBEAT = 5000  # milliseconds, on tcp
_PEERS = 64  # clients that one keeps connections to
_REFUSED = zmq.EVENT_HANDSHAKE_FAILED_AUTH | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
_ZAP = "inproc://zeromq.zap.01"


class _End:
    """Sockets that are waited for together."""

    def __init__(self, keys: Keys | None) -> None:
        self._keys = keys
        self._context = zmq.Context()
        self._poller = zmq.Poller()
        self._zap: zmq.Socket[bytes] | None = None

    def _socket(self, kind: int) -> zmq.Socket[bytes]:
        socket = self._context.socket(kind)
        socket.setsockopt(zmq.MAXMSGSIZE, MAX_FRAME)
        socket.setsockopt(zmq.SNDHWM, _QUEUE)
        socket.setsockopt(zmq.LINGER, 0)
        return socket

    def _bind(self, kind: int, address: str) -> zmq.Socket[bytes]:
        """A socket that listens, to holders of the right key only if there are keys."""
        socket = self._socket(kind)
        self._listen(socket, address)
        self._poller.register(socket, zmq.POLLIN)
        return socket

    def _listen(self, socket: zmq.Socket[bytes], address: str) -> None:
        """Options are those of the addresses bound from then on: so one with keys comes after one without."""
        addresses.check(address, self._keys is not None)
        if self._keys is not None and address.startswith("tcp:"):
            self._judge()
            socket.setsockopt(zmq.CURVE_SERVER, 1)
            socket.setsockopt(zmq.CURVE_SECRETKEY, self._keys.secret.encode())
            socket.setsockopt(zmq.ZAP_DOMAIN, b"score-embed")
        self._beat(socket, address)
        try:
            socket.bind(address)
        except zmq.ZMQError as error:
            socket.close()
            raise UsageError(f"cannot listen here: {error.strerror}", address, "Choose another address.") from None

    def _connect(self, kind: int, address: str, other: str, at_once: bool = False) -> zmq.Socket[bytes]:
        """`at_once`: nothing is kept for a peer that is not there."""
        addresses.check(address, self._keys is not None)
        socket = self._socket(kind)
        socket.setsockopt(zmq.IMMEDIATE, int(at_once))
        if self._keys is not None and address.startswith("tcp:"):
            socket.setsockopt(zmq.CURVE_SERVERKEY, other.encode())
            socket.setsockopt(zmq.CURVE_PUBLICKEY, self._keys.public.encode())
            socket.setsockopt(zmq.CURVE_SECRETKEY, self._keys.secret.encode())
        self._beat(socket, address)
        socket.connect(address)
        return socket

    @staticmethod
    def _beat(socket: zmq.Socket[bytes], address: str) -> None:
        if address.startswith("tcp:"):
            socket.setsockopt(zmq.HEARTBEAT_IVL, _HEARTBEAT)
            socket.setsockopt(zmq.HEARTBEAT_TIMEOUT, 4 * _HEARTBEAT)

    def _judge(self) -> None:
        """Listen to the context's questions about who may connect."""
        if self._zap is None:
            self._zap = self._context.socket(zmq.REP)
            self._zap.setsockopt(zmq.LINGER, 0)
            self._zap.bind(_ZAP)
            self._poller.register(self._zap, zmq.POLLIN)

    def _answer_zap(self) -> None:
        assert self._zap is not None
        assert self._keys is not None
        version, sequence, _domain, _address, _identity, mechanism, *credentials = self._zap.recv_multipart()
        allowed = self._keys.other if self._keys.role == "server" else self._keys.public
        good = mechanism == b"CURVE" and [zmq.utils.z85.encode(key).decode() for key in credentials] == [allowed]
        status, text = (b"200", b"OK") if good else (b"400", b"unknown key")
        self._zap.send_multipart([version, sequence, status, text, b"", b""])

    def _poll(self, seconds: float) -> set[zmq.Socket[bytes]]:
        """The sockets with something to read. Who may connect is answered on the way."""
        ready = {socket for socket, _ in self._poller.poll(max(0, int(seconds * 1000)))}
        if self._zap in ready:
            self._answer_zap()
        return ready

    def close(self) -> None:
        self._context.destroy()


class Listener(_End):
    """The server's end. `also`: an address for others, beside that for processes of this machine."""

    def __init__(self, address: str, keys: Keys | None = None, also: str = "") -> None:
        """Raises UsageError if it cannot listen there."""
        super().__init__(keys)
        try:
            self._router = self._bind(zmq.ROUTER, address)
            self.address = self._router.getsockopt_string(zmq.LAST_ENDPOINT)
            if also:
                self._listen(self._router, also)
        except UsageError:
            self._context.destroy()
            raise
        self.also = self._router.getsockopt_string(zmq.LAST_ENDPOINT) if also else ""

    def wait(self, seconds: float) -> list[tuple[bytes, bytes]]:
        """What has come, as (sender, frame); waits for so long if there is nothing."""
        found: list[tuple[bytes, bytes]] = []
        if self._router in self._poll(seconds):
            while len(found) < _AT_ONCE:
                try:
                    sender, *frames = self._router.recv_multipart(zmq.NOBLOCK)
                except zmq.Again:
                    break
                if len(frames) == 1:
                    found.append((sender, frames[0]))
        return found

    def send(self, to: bytes, frame: bytes) -> None:
        """To whom a frame came from. Dropped if there is nobody, or too much is on the way."""
        try:
            self._router.send_multipart([to, frame], zmq.NOBLOCK)
        except zmq.ZMQError:
            return

    def close(self) -> None:
        self._context.destroy(_LINGER)


class Caller(_End):
    """A client's end. `listen`: where other clients hand pairs over directly, if they can reach it."""

    def __init__(self, server: str, keys: Keys | None = None, listen: str = "") -> None:
        super().__init__(keys)
        self._server = server
        try:
            self._dealer = self._connect_server(server)
            self._pull = self._bind(zmq.PULL, listen) if listen else None
        except UsageError:
            self._context.destroy()
            raise
        self.address = self._pull.getsockopt_string(zmq.LAST_ENDPOINT) if self._pull is not None else ""
        self._peers: OrderedDict[str, zmq.Socket[bytes]] = OrderedDict()

    def _connect_server(self, server: str) -> zmq.Socket[bytes]:
        matcher = self._connect(zmq.DEALER, server, self._keys.other if self._keys else "", at_once=True)
        self._monitor = matcher.get_monitor_socket(_REFUSED)
        self._poller.register(matcher, zmq.POLLIN)
        return matcher

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
                    what, self._server, "Give the client.key that was made with the server's: --keys FILE."
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

    def wait(self, seconds: float) -> list[bytes]:
        """The frames that have come; waits for so long if there are none."""
        found: list[bytes] = []
        ready = self._poll(seconds)
        for socket in (self._dealer, self._pull):
            while socket is not None and socket in ready and len(found) < _AT_ONCE:
                try:
                    frames = socket.recv_multipart(zmq.NOBLOCK)
                except zmq.Again:
                    break
                if len(frames) == 1:
                    found.append(frames[0])
        return found

    def send(self, frame: bytes) -> None:
        """To the server. Dropped if it is not there."""
        try:
            self._dealer.send(frame, zmq.NOBLOCK)
        except zmq.ZMQError:
            return

    def send_to(self, address: str, frame: bytes) -> None:
        """To another client. Dropped if it does not take it."""
        try:
            self._peer(address).send(frame, zmq.NOBLOCK)
        except (zmq.ZMQError, UsageError):
            return

    def _peer(self, address: str) -> zmq.Socket[bytes]:
        peer = self._peers.pop(address, None)
        if peer is None:
            peer = self._connect(zmq.PUSH, address, self._keys.public if self._keys else "")
            if len(self._peers) >= _PEERS:
                _, oldest = self._peers.popitem(last=False)
                oldest.close()
        self._peers[address] = peer
        return peer

    def close(self) -> None:
        """What was said last may still go out."""
        self._dealer.disable_monitor()
        for peer in self._peers.values():
            peer.close(_LINGER)
        self._context.destroy(_LINGER)
