"""Random and mutated link traffic, and the C side of the link compiled with sanitizers."""

from __future__ import annotations

import random
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path

from images import RUNTIME, SUPPORT, compile_c
from plain_wire import END, READY, RunMessage, again, encode, hello, varint

from score_embed.contract.wire import WIRE_VERSION, EndFlag, Type

SANITIZE = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]


def build_c_side(folder: Path, ram: int | None = None) -> Path:
    """`ram`: bytes of its memory, if not the port's own 64 KiB."""
    port = SUPPORT / "wire_port"
    output = folder / "wire"
    sources = [*map(str, sorted(RUNTIME.glob("*.c"))), str(port / "port.c")]
    size = [f"-DSC_RAM_SIZE={ram}u"] if ram else []
    objects = []
    for source in sources:
        target = folder / (Path(source).stem + ("_port.o" if source == sources[-1] else ".o"))
        rename = [] if source == sources[-1] else ["-Dexit=wire_exit"]
        command = ["gcc", "-std=gnu99", "-Wall", "-Wextra", "-Werror", *SANITIZE, *rename]
        compile_c([*command, *size, f"-I{RUNTIME}", f"-I{port}", "-c", source, "-o", str(target)])
        objects.append(str(target))
    compile_c(["gcc", *SANITIZE, *objects, "-o", str(output)])
    return output


def run_c_side(binary: Path, mode: str, data: bytes) -> bytes:
    environment = {"ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run(
        [str(binary), mode], input=data, capture_output=True, timeout=600, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-3000:]
    return done.stdout


class Lockstep:
    """The C side in a process that answers each portion of bytes before it takes the next: no clock, no waiting."""

    def __init__(self, binary: Path) -> None:
        environment = {"ASAN_OPTIONS": "detect_leaks=0"}
        self._process = subprocess.Popen(
            [str(binary), "step"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        self.first = self._take()

    def exchange(self, data: bytes) -> bytes:
        """All that the target says to `data`."""
        assert self._process.stdin is not None
        self._process.stdin.write(len(data).to_bytes(4, "little") + data)
        self._process.stdin.flush()
        return self._take()

    def close(self) -> None:
        self._process.communicate(timeout=60)
        assert self._process.returncode == 0

    def _take(self) -> bytes:
        assert self._process.stdout is not None
        size = self._process.stdout.read(4)
        assert len(size) == 4, "the target has died"
        return self._process.stdout.read(int.from_bytes(size, "little"))


def _run_message(rng: random.Random) -> bytes:
    size = rng.choice((0, 1, 5, 40, 300, 301, 1000))
    data = rng.randbytes(size)
    base = None
    if rng.random() < 0.5:
        base = bytearray(data)
        for _ in range(rng.randrange(4)):
            if base:
                base[rng.randrange(len(base))] ^= 0xFF
    return RunMessage(
        number=rng.randrange(4),
        acknowledged=rng.random() < 0.5,
        data=data,
        base=bytes(base) if base is not None else None,
        predicted=rng.choice((0, 1, 3, 0xFFFFFFFF)),
        condition_hash=rng.getrandbits(64),
        elide=rng.choice((0, 1, 5, 70, 0xFFFFFFFF)),
        elide_crc=rng.getrandbits(32),
        max_branches=rng.choice((0, 1, 10, 1000)),
        watchdog_ms=rng.choice((0, 1000)),
        chunk=rng.choice((0, 4, 16, 0xFFFFFFFF)),
    ).encode()


def valid_frame(rng: random.Random) -> bytes:
    """One frame as the host may send it."""
    kind, payload = rng.choice(
        [
            (Type.HELLO, hello),
            (Type.AGAIN, lambda: again(rng.randrange(4))),
            (Type.RESET, lambda: b""),
            (Type.RUN, lambda: _run_message(rng)),
            (Type.RUN, lambda: _run_message(rng)),
            (Type.TRACE, lambda: rng.randbytes(rng.randrange(300))),
        ]
    )
    return encode(kind, rng.randrange(16), payload())


def ready_message(build_id: bytes, version: int, capabilities: int = 0, chunk: int = 64) -> bytes:
    return READY.pack(version, capabilities, 8, build_id, 1000, 1000, chunk, 10)


def piece(number: int, offset: int, data: bytes) -> bytes:
    return bytes((number,)) + varint(offset) + data


def end_message(
    number: int, path_hash: int, flags: int, events: bytes, tail: bytes, *, log: int = 0, coverage: int = 0
) -> bytes:
    """END of a test that returned 0. `tail`: how many bytes of its events come with it; sizes of log and coverage."""
    flags |= EndFlag.CHUNKED | EndFlag.EXTRAS
    head = END.pack(number, flags, path_hash, 222, zlib.crc32(events))
    return head + b"".join(map(varint, (2, 5, len(events) - len(tail), log, coverage, 0))) + tail


def target_frame(rng: random.Random) -> bytes:
    """One frame as the target may send it, of every type."""
    number, offset = rng.randrange(256), rng.randrange(1 << 16)
    events = rng.randbytes(rng.randrange(1, 60))
    kind, payload = rng.choice(
        [
            (Type.READY, ready_message(bytes(16), WIRE_VERSION)),
            (Type.TRACE, piece(number, offset, rng.randbytes(rng.randrange(1, 256)))),
            (Type.LOG, piece(number, offset, rng.randbytes(rng.randrange(1, 60)))),
            (Type.COVERAGE, piece(number, offset, rng.randbytes(4 * rng.randrange(1, 16)))),
            (Type.NEED_FULL, bytes((number,))),
            (Type.DAMAGED, b""),
            (Type.END, end_message(number, rng.getrandbits(64), EndFlag.MATCHED, events, events[3:])),
        ]
    )
    return encode(kind, rng.randrange(16), payload)


def damaged(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """What a bad line makes of a frame; `other` came after it."""
    out = bytearray(data)
    match rng.randrange(6):
        case 0:  # single bits
            for _ in range(rng.randrange(1, 9)):
                out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
        case 1:  # bytes
            for _ in range(rng.randrange(1, 9)):
                out[rng.randrange(len(out))] = rng.randrange(256)
        case 2:  # a burst
            at = rng.randrange(len(out))
            size = min(len(out) - at, rng.randrange(1, 40))
            out[at : at + size] = rng.randbytes(size)
        case 3:  # lost bytes
            for _ in range(rng.randrange(1, 5)):
                at = rng.randrange(len(out))
                del out[at : at + rng.choice((1, 1, 1, 16))]
                if not out:
                    break
        case 4:  # bytes from nowhere
            for _ in range(rng.randrange(1, 5)):
                at = rng.randrange(len(out) + 1)
                out[at:at] = rng.randbytes(rng.choice((1, 1, 1, 16)))
        case _:  # an overrun: the end of one frame is lost with the beginning of the next
            out = out[: rng.randrange(1, len(out))] + bytearray(other[rng.randrange(1, len(other)) :])
    return bytes(out)


def mutated(rng: random.Random, data: bytes) -> bytes:
    out = bytearray(data)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(out) + 1)
        match rng.randrange(5):
            case 0 if out:
                out[at % len(out)] ^= 1 << rng.randrange(8)
            case 1:
                out[at:at] = rng.randbytes(rng.randrange(1, 5))
            case 2:
                del out[at : at + rng.randrange(1, 9)]
            case 3:
                out[at:at] = out[: rng.randrange(1, 20)]
            case _:
                out[at : at + 1] = rng.choice((b"\0", b"\xff", b"\1"))
    return bytes(out)


def reframed(rng: random.Random, data: bytes) -> bytes:
    """A damaged payload in a good frame: gets past the CRC."""
    return encode(rng.choice((*Type, 0, 5)), rng.randrange(16), mutated(rng, data))


def streams(seed: int, count: int) -> Iterator[bytes]:
    rng = random.Random(seed)
    for _ in range(count):
        match rng.randrange(5):
            case 0:
                yield rng.randbytes(rng.randrange(60))
            case 1:
                yield valid_frame(rng)
            case 2:
                yield reframed(rng, _run_message(rng))
            case _:
                yield mutated(rng, valid_frame(rng))


def portions(rng: random.Random, data: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        size = rng.choice((1, 2, 7, 64, 4096))
        yield data[at : at + size]
        at += size
