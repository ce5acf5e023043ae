"""Whatever a file or a command line holds, the end is one message: no traceback, no internal error, within a minute.

`--all` takes 2,000 C sources, 2,000 YAML files and 1,000 command lines; a run that is no proof a few of each.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import mutations
import pytest
from proof import FULL
from runner import score_embed

from score_embed import config
from score_embed.board.lab import read_lab
from score_embed.board.profile import load_board
from score_embed.cache import cache_folder
from score_embed.errors import ScoreError
from score_embed.image.image import build_image
from score_embed.simulate.scenario import read_scenario

CHUNKS = 20
SECONDS = 60
CODES = {0, 1, 2, 3, 4, 5, 6, 7, 74, 130}
SYMBOLIC = '#include "score.h"\nint main(void) { unsigned char x; SYM_U8(x); return x > 7; }\n'


@contextmanager
def ended(what: str, codes: set[int]) -> Iterator[None]:
    """What is done ends in time, well or with a user's error."""

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"it takes more than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(SECONDS)
    code = min(codes)
    try:
        yield
    except ScoreError as error:
        code = error.exit_code
    except BaseException as error:
        error.add_note(what)
        raise
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert code in codes, what


def seeds(chunk: int, usually: int, of: int) -> range:
    return range(chunk * of, chunk * of + (of if FULL else usually))


def fetched() -> list[Path]:
    """Small files of the parsers that tools/fetch-parsers.sh has fetched, if it has."""
    places = (cache_folder().parent / "parsers").glob("*/**/*.c")
    return sorted(path for path in places if path.is_file() and path.stat().st_size < mutations.MOST_BYTES)


@pytest.mark.parts(10)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_mutated_c(chunk: int, tmp_path: Path) -> None:
    more = fetched()
    board = load_board(mutations.ROOT / "boards" / "native.yaml")
    for seed in seeds(chunk, 2, 100):
        text, was = mutations.mutated_c(seed, more)
        source = tmp_path / "p.c"
        source.write_text(text, encoding="utf-8", errors="surrogateescape")
        flags = [f"-I{was.parent}", f"-I{was.parent.parent}", f"-I{was.parent.parent / 'include'}"]
        with ended(f"seed {seed}, made of {was}", {2, 3}):
            image = build_image(board, [source], cflags=flags)
            assert "internal error" not in str(image.notes)


@pytest.mark.parts(20)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_mutated_c_as_a_user_has_it(chunk: int, tmp_path: Path) -> None:
    """The whole of it: the program runs, too."""
    for seed in seeds(chunk, 1, 5):
        text, _ = mutations.mutated_c(seed + 1_000_000)
        (tmp_path / "p.c").write_text(text, encoding="utf-8", errors="surrogateescape")
        check(["run", "--max-tests", "5", "--time", "5", "--no-witness", "--out", f"o{seed}", "p.c"], tmp_path, seed)


@pytest.mark.parts(4)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_mutated_yaml(chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / config.PROJECT_FILE
    readers: tuple[Callable[[], object], ...] = (
        lambda: load_board(file),
        lambda: read_lab(file),
        lambda: config.resolve({}, {}, tmp_path),
        lambda: read_scenario(str(file), {}),
    )
    for seed in seeds(chunk, 20, 100):
        file.write_text(mutations.mutated_yaml(seed), encoding="utf-8")
        for number, read in enumerate(readers):
            with ended(f"seed {seed}, reader {number}", {2}):
                read()


@pytest.mark.parts(10)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_odd_command_lines(chunk: int, tmp_path: Path) -> None:
    furnish(tmp_path)
    for seed in seeds(chunk, 4, 50):
        check(mutations.command_line(seed), tmp_path, seed)


def furnish(folder: Path) -> None:
    """What odd words name."""
    (folder / "p.c").write_text(SYMBOLIC)
    (folder / "folder").mkdir()
    (folder / "file").write_bytes(b"\0\xff")
    (folder / "loop").symlink_to("loop")
    os.mkfifo(folder / "fifo")
    (folder / "bad.yaml").write_text("a: &a [*a]\n")
    (folder / "bomb.yaml").write_text("a: &a [1, 1]\nb: &b [*a, *a]\nc: [*b, *b]\n")
    (folder / "first.json").write_text('{"inputs": {"x": 1e400}}')
    assert score_embed("run", "--max-tests", "2", "--no-witness", "--out", "out", "p.c", cwd=folder).returncode == 0


def check(words: list[str], folder: Path, seed: int) -> None:
    began = time.monotonic()
    done = score_embed(*words, cwd=folder, deadline=SECONDS)
    said = done.stdout + done.stderr
    assert done.returncode in CODES, (seed, words, said)
    assert not re.search("Traceback|internal error|Exception ignored", said), (seed, words, said)
    assert time.monotonic() - began < SECONDS
