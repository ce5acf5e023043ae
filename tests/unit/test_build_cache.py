"""The build cache: what is in use stays, what was not used for longest goes first."""

from __future__ import annotations

import errno
import os
import tempfile
import time
from pathlib import Path

import pytest

from score_embed.cache import hold, is_kept, publish, trim


def _file(folder: Path, name: str, size: int, hours: float) -> Path:
    """One that was used so long ago."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(bytes(size))
    then = time.time() - hours * 3600
    os.utime(path, (then, then))
    return path


def test_the_longest_unused_goes_first(tmp_path: Path) -> None:
    old, older, new = (_file(tmp_path, *of) for of in (("a.elf", 100, 5), ("fleet/b.elf", 100, 9), ("c.o", 100, 2)))
    trim(tmp_path, limit=250)
    assert [path.exists() for path in (older, old, new)] == [False, True, True]
    trim(tmp_path, limit=100)
    assert [path.exists() for path in (older, old, new)] == [False, False, True]


def test_nothing_goes_while_there_is_room(tmp_path: Path) -> None:
    path = _file(tmp_path, "a.elf", 100, 99)
    trim(tmp_path, limit=100)
    assert path.exists()


def test_what_was_used_lately_stays(tmp_path: Path) -> None:
    used, unused = _file(tmp_path, "a.o", 100, 99), _file(tmp_path, "b.o", 100, 98)
    assert is_kept(used)
    assert not is_kept(tmp_path / "c.o")
    trim(tmp_path, limit=0)
    assert used.exists()
    assert not unused.exists()


def test_what_is_held_stays_until_it_is_let_go(tmp_path: Path) -> None:
    path = _file(tmp_path, "a.elf", 100, 99)
    holding, as_well = hold(path), hold(path)
    for descriptor in (holding, as_well):
        trim(tmp_path, limit=0)
        assert path.exists()
        os.close(descriptor)
    trim(tmp_path, limit=0)
    assert not path.exists()


def _no_links(self: Path, target: Path) -> None:
    raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))


def test_what_is_there_is_not_replaced(tmp_path: Path) -> None:
    """A linker that opens it twice must find the same: with LTO no two compilations are alike."""
    built, kept = _file(tmp_path / "work", "a.o", 10, 0), tmp_path / "a.o"
    publish(built, kept)
    first = kept.stat()
    assert kept.read_bytes() == bytes(10)
    built.write_bytes(b"another")
    publish(built, kept)
    assert os.path.samestat(kept.stat(), first)
    assert kept.read_bytes() == bytes(10)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["a.o"]


def test_what_is_built_on_another_file_system_is_copied(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        assert Path(memory).stat().st_dev != tmp_path.stat().st_dev
        built, kept = _file(Path(memory) / "work", "a.elf", 10, 0), tmp_path / "a.elf"
        built.chmod(0o755)
        publish(built, kept)
    assert (kept.read_bytes(), kept.stat().st_mode & 0o777) == (bytes(10), 0o755)


def test_a_file_system_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built, kept = _file(tmp_path / "work", "a.elf", 10, 0), tmp_path / "a.elf"
    built.chmod(0o755)
    monkeypatch.setattr(Path, "hardlink_to", _no_links)
    publish(built, kept)
    assert os.access(kept, os.X_OK)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["a.elf"]
