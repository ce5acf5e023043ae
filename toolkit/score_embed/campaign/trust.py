"""Whose campaign is this? To go on with one, or to run its tests again, is to execute its image and its board's
commands.

When a campaign begins, the digests of all that will be executed go into its record: of the image, of the second
witness's program, of the board's profile, of the toolkit and of the settings. They are signed with a secret of the
user's, which lies in the user's folder for such things (`$XDG_STATE_HOME/score-embed/secret`). So a folder that was
made by somebody else, or elsewhere, is not taken for one's own, whatever its record says, and `--trust` has to be said.
Where a digest differs that is signed, it is the file that changed: a damaged image is never run.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import structs

from score_embed import config
from score_embed.board.desk import DeskRun
from score_embed.board.profile import Board, QemuRun, find_profile, load_board
from score_embed.campaign.folder import IMAGE
from score_embed.errors import StorageError, UsageError
from score_embed.image import identity
from score_embed.results.parts import PROVENANCE, SETTINGS, Provenance, digest_of, encode
from score_embed.results.store import Store
from score_embed.witness.witness import PROGRAM

_SECRET_BYTES = 32


def sign(record: Store) -> None:
    """This campaign is ours: its settings and its programs are in place. Raises StorageError."""
    found = _provenance(record, _board(record))
    secret = _secret(make=True)
    record.put(PROVENANCE, found if secret is None else structs.replace(found, signature=_signature(found, secret)))


def require(record: Store, trusted: bool) -> None:
    """Nothing may be executed for this campaign but after this. Raises UsageError, StorageError.

    `trusted`: the user said so. Then it is signed as ours by the next `sign`.
    """
    made = record.get(PROVENANCE)
    image = record.folder / IMAGE
    if made is None:
        hint = "It was stopped before its first test: start a new campaign."
        raise UsageError("the campaign in this folder never began", str(record.folder), hint)
    if digest_of(image) != made.image:
        hint = "Put it back from a copy, or start a new campaign."
        raise StorageError("the image is damaged, or is not the one that this campaign was made with", str(image), hint)
    if trusted:
        return
    board = _board(record)
    secret = _secret(make=False)
    if secret is None or not hmac.compare_digest(made.signature.encode(), _signature(made, secret).encode()):
        raise _refused(record, board, "this campaign was not made by you on this machine")
    now = _provenance(record, board)
    if now.settings != made.settings:
        raise _refused(record, board, "the settings of this campaign are not those it was made with")
    if now.profile != made.profile:
        raise _refused(record, board, "the board's profile is not the one that this campaign was made with")
    if now.toolkit != made.toolkit:
        raise _refused(record, board, "another score-embed made this campaign: what it would do now may differ")


def _refused(record: Store, board: Board, what: str) -> UsageError:
    lines = [
        "To go on would execute:",
        *(f"    {line}" for line in _executed(record, board)),
        "If you know where it comes from, say --trust. `score-embed report` and `export` execute nothing.",
    ]
    return UsageError(what, str(record.folder), "\n".join(lines))


def _executed(record: Store, board: Board) -> Iterator[str]:
    """What a campaign has run, beside the toolkit."""
    yield str(record.folder / IMAGE)
    if (record.folder / PROGRAM).exists():
        yield str(record.folder / PROGRAM)
    run = board.run
    if isinstance(run, QemuRun):
        yield f"{shlex.join([run.command, *run.options])} (of {board.path})"
    elif isinstance(run, DeskRun):
        named = {
            "command": run.program,
            "flash": run.flash,
            "reset": run.reset_command,
            "power on": run.power_on,
            "power off": run.power_off,
            "safe state": run.safe_state,
        }
        yield from (f"{name}: {shlex.join(words)} (of {board.path})" for name, words in named.items() if words)
    elif run.emulator:
        yield f"{shlex.join(run.emulator)} (of {board.path})"


# Digests ------------------------------------------------------------------------------------------------------


def _provenance(record: Store, board: Board) -> Provenance:
    settings = record.get(SETTINGS)
    profile = repr(structs.replace(board, path=Path()))  # all that it says, wherever it lies
    return Provenance(
        digest_of(record.folder / IMAGE),
        digest_of(record.folder / PROGRAM),
        hashlib.sha256(profile.encode("utf-8", "surrogateescape")).hexdigest(),
        identity.whole_toolkit(),
        hashlib.sha256(encode(settings).encode()).hexdigest(),
    )


def _board(record: Store) -> Board:
    """As the campaign was made with it. Raises UsageError if it is not there any more."""
    settings = record.get(SETTINGS) or config.Settings()
    return load_board(find_profile(settings.board), settings.run, settings.port)


def _signature(of: Provenance, secret: bytes) -> str:
    return hmac.new(secret, encode(structs.replace(of, signature="")).encode(), "sha256").hexdigest()


# The user's secret --------------------------------------------------------------------------------------------


def secret_file() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return Path(state) / "score-embed" / "secret"


def _secret(make: bool) -> bytes | None:
    """None: there is none, or nowhere to keep one. Then no campaign counts as one's own."""
    path = secret_file()
    if make and not path.exists():
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            fresh = path.with_name(f".{path.name}.{os.getpid()}")
            with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(secrets.token_bytes(_SECRET_BYTES))
            with suppress(FileExistsError):  # another process was faster
                path.hardlink_to(fresh)
            fresh.unlink()
    try:
        found = path.read_bytes()
    except OSError:
        return None
    return found if len(found) >= _SECRET_BYTES else None
