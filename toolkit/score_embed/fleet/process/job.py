"""What a client needs to run a campaign's tests: the settings, the board, the image. The server hands it out."""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from msgspec import MsgspecError

from score_embed import config
from score_embed.board.profile import Board, find_board
from score_embed.cache import cache_folder, is_kept, trim
from score_embed.errors import StorageError, TargetError
from score_embed.fleet import service
from score_embed.image.image import Image, load_image
from score_embed.results.parts import decode, encode


class OfferedJob:
    """The server's side: one campaign's job."""

    def __init__(self, number: int, settings: config.Settings, board: Board, image: Image) -> None:
        self._image = image.elf.read_bytes()
        self.message = service.Job(
            number,
            encode(settings),
            board.path.stem,
            str(board.path),
            image.build_id,
            len(self._image),
            digest_of(self._image),
        )

    def part(self, offset: int) -> service.ImagePart:
        return service.ImagePart(self.message.campaign, offset, self._image[offset : offset + service.MAX_PART])


@dataclass(frozen=True)
class ReadyJob:
    """A client's side: ready to start a target."""

    settings: config.Settings
    board: Board
    image: Image


def unpack(job: service.Job, elf: Path, board: str | None, run: str | None, port: str | None) -> ReadyJob:
    """`board`, `run`, `port`: what was said here comes before what the campaign says."""
    try:
        settings = decode(job.settings, config.Settings)
    except MsgspecError as error:
        raise TargetError(f"the server's settings make no sense: {error}", "", "Start the server anew.") from None
    name = board or (job.profile if Path(job.profile).is_file() else job.board)
    # A port of the server's is none of ours; but it says that the board is at the end of a serial line.
    found = find_board(name, run or settings.run or ("serial" if settings.port and not port else None), port)
    image = load_image(elf)
    if image.build_id != job.build_id:
        raise TargetError("the server's image is not the one it says", str(elf), "Start the server anew.")
    return ReadyJob(settings, found, image)


def installed(job: service.Job) -> Path | None:
    """The image, if it was fetched before."""
    path = _path(job)
    try:
        return path if is_kept(path) and digest_of(path.read_bytes()) == job.digest else None
    except OSError:
        return None


def install(job: service.Job, image: bytes) -> Path:
    """Keep a fetched image. Raises TargetError if it is damaged."""
    if digest_of(image) != job.digest:
        raise TargetError("the image arrived damaged", job.digest.hex(), "Start the client again.")
    path = _path(job)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        number, name = tempfile.mkstemp(dir=path.parent, prefix=".fetched-")
        with os.fdopen(number, "wb") as file:
            file.write(image)
        Path(name).chmod(0o755)
        Path(name).replace(path)
        trim(cache_folder())
    except OSError as error:
        raise StorageError(f"cannot keep the image: {error.strerror}", str(path.parent), "Free some space.") from error
    return path


def digest_of(image: bytes) -> bytes:
    return hashlib.blake2b(image, digest_size=32).digest()


def _path(job: service.Job) -> Path:
    return cache_folder() / "fleet" / f"{job.digest.hex()}.elf"
