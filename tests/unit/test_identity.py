"""The toolkit's own sources are part of the build cache's keys: all that decides what is built, and no less."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_imports import PACKAGE, imports

import score_embed
from score_embed.errors import StorageError
from score_embed.image import identity


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Digests are computed once a process."""
    identity.toolkit.cache_clear()
    yield
    identity.toolkit.cache_clear()


def module(name: str) -> Path | None:
    """The file of an imported name of ours."""
    parts = name.split(".")[1:]
    while parts:
        path = PACKAGE.joinpath(*parts[:-1]) / f"{parts[-1]}.py"
        if path.is_file():
            return path
        parts.pop()
    return None


def reached(*names: str) -> set[str]:
    """All modules of ours that these import, with them."""
    found: set[Path] = set()
    waiting = [PACKAGE / name for name in names]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += [other for name, _ in imports(path) if (other := module(name)) is not None]
    return {path.relative_to(PACKAGE).as_posix() for path in found}


COMPILING = ("image/compiling.py",)
FRONT_END = (
    "frontend/program.py",
    "frontend/harness/entry.py",
    "frontend/whole.py",
    "image/measure.py",
    "image/library.py",
)


@pytest.mark.parametrize(("rooms", "begins"), [(identity.BUILDING, COMPILING), (identity.INSTRUMENTING, FRONT_END)])
def test_all_that_takes_part_is_in_the_digest(rooms: tuple[str, ...], begins: tuple[str, ...]) -> None:
    # what they give is in the keys
    everybody = {"cache.py", "command.py", "config.py", "errors.py", "places.py", "userfile.py", "yamlfile.py", "yamltext.py"}
    outside = {name for name in reached(*begins) if name.rpartition("/")[0] not in rooms and name not in everybody}
    assert not outside


@pytest.mark.parametrize("name", ["__init__.py", "errors.py", "image/extents.py", "frontend/lower/unit.py"])
def test_a_change_of_our_sources_is_noticed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = tmp_path / "score_embed"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    before = identity.toolkit(*identity.INSTRUMENTING)
    monkeypatch.setattr(score_embed, "__file__", str(copy / "__init__.py"))
    identity.toolkit.cache_clear()
    assert identity.toolkit(*identity.INSTRUMENTING) == before  # wherever it is installed
    with (copy / name).open("a") as file:
        file.write("#")
    identity.toolkit.cache_clear()
    assert identity.toolkit(*identity.INSTRUMENTING) != before


def test_the_runtime_is_known_by_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "x86").mkdir()
    file = tmp_path / "x86" / "port.c"
    file.write_text("a")
    digests = [identity.runtime(tmp_path)]
    file.write_text("b")
    digests.append(identity.runtime(tmp_path))
    file.rename(tmp_path / "x86" / "other.c")
    digests.append(identity.runtime(tmp_path))
    assert len(set(digests)) == 3


@pytest.fixture
def is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of files that are read to be digested, an hour after everything here was written."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    now, read = time.time_ns() + 3600 * 10**9, identity._read
    seen: list[str] = []

    def noted(path: str) -> bytes:
        seen.append(Path(path).name)
        return read(path)

    monkeypatch.setattr(time, "time_ns", lambda: now)
    monkeypatch.setattr(identity, "_read", noted)
    return seen


def test_what_did_not_change_is_not_read_again(tmp_path: Path, is_read: list[str]) -> None:
    folder = tmp_path / "runtime"
    folder.mkdir()
    (folder / "a.c").write_text("a")
    (folder / "b.c").write_text("b")
    first = identity.runtime(folder)
    assert identity.runtime(folder) == first
    assert is_read == ["a.c", "b.c"]


def test_a_change_is_noticed_although_size_and_time_are_set_back(tmp_path: Path, is_read: list[str]) -> None:
    folder = tmp_path / "runtime"
    folder.mkdir()
    file = folder / "a.c"
    file.write_text("a")
    before, first = file.stat(), identity.runtime(folder)
    time.sleep(0.02)  # a tick of the file system's clock
    file.write_text("b")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert identity.runtime(folder) != first


def test_a_file_that_was_written_just_now_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may change once more in the same tick."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "runtime"
    folder.mkdir()
    (folder / "a.c").write_text("a")
    identity.runtime(folder)
    assert not list((tmp_path / "cache").rglob("*.digest"))


def test_a_compiler_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        identity.compiler(str(tmp_path / "gcc"))
