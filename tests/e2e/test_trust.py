"""A campaign's folder from elsewhere is data: nothing of it is executed unless the user says so."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
import records
from runner import score_embed

PROGRAM = """
#include "score.h"
int main(void)
{
    unsigned char x, y;
    SYM_U8(x);
    SYM_U8(y);
    return (x > 7) + (y == 3);
}
"""
BOARD = "extends: native\nemulator: [{folder}/emulator]\n"
EMULATOR = '#!/bin/sh\necho "$@" >> {folder}/executed\nexec "$@"\n'


class Place:
    """A folder, and whose secret signs what is made there."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self._monkeypatch = folder, monkeypatch
        (folder / "p.c").write_text(PROGRAM)
        (folder / "b.yaml").write_text(BOARD.format(folder=folder))
        emulator = folder / "emulator"
        emulator.write_text(EMULATOR.format(folder=folder))
        emulator.chmod(0o755)

    def be(self, who: str) -> None:
        self._monkeypatch.setenv("XDG_STATE_HOME", str(self.folder / who))

    def do(self, *words: str, code: int = 0) -> str:
        """Returns what it said, after checking the exit code."""
        # The emulator is a script that writes a file, which is the evidence.
        freely = ("--unconfined",) if words[0] in ("run", "replay") else ()
        done = score_embed(*words, *freely, cwd=self.folder)
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stderr

    def executed(self) -> bool:
        """Since this was last asked."""
        seen = self.folder / "executed"
        was = seen.exists()
        seen.unlink(missing_ok=True)
        return was


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    made = Place(tmp_path, monkeypatch)
    made.be("stranger")
    made.do("run", "--board", "b.yaml", "--out", "o", "--max-tests", "2", "p.c")
    assert made.executed()
    return made


def test_one_s_own_campaign_needs_no_word(place: Place) -> None:
    place.do("replay", "o")
    place.do("run", "--resume", "o")
    assert place.executed()
    secret = place.folder / "stranger" / "score-embed" / "secret"
    assert secret.stat().st_mode & 0o777 == 0o600


def test_a_stranger_s_campaign_executes_nothing(place: Place) -> None:
    place.be("me")
    for words in (
        ("replay", "o"),
        ("replay", "o", "1"),
        ("run", "--resume", "o"),
        ("run", "--resume", "o", "--clients", "2"),
        ("server", "o"),
        ("fleet", "record", "o", "o.tree"),
    ):
        said = place.do(*words, code=2)
        for word in ("not made by you", "o/image.elf", f"{place.folder}/emulator", "b.yaml", "--trust"):
            assert word in said, said
        assert not place.executed(), words
    for words in (("report", "o"), ("report", "o", "--json"), ("export", "o", "--corpus", "c")):
        place.do(*words)
    assert not place.executed()
    place.do("replay", "o", "--trust")
    assert place.executed()
    place.do("replay", "o", code=2)
    place.do("run", "--resume", "o", "--max-tests", "1", "--trust")
    place.do("run", "--resume", "o")  # it is one's own from then on


def test_a_profile_that_has_changed_is_asked_for(place: Place) -> None:
    board = place.folder / "b.yaml"
    board.write_text(board.read_text() + "about: the same\n")
    said = place.do("run", "--resume", "o", code=2)
    assert "profile is not the one" in said
    assert not place.executed()
    place.do("run", "--resume", "o", "--trust")


def test_settings_that_have_changed_are_no_longer_signed(place: Place) -> None:
    other = place.folder / "other.yaml"
    shutil.copy(place.folder / "b.yaml", other)
    settings = f"UPDATE meta SET value = replace(value, 'b.yaml', '{other.name}') WHERE key = 'settings'"
    records.change(place.folder / "o", settings)
    assert "settings of this campaign" in place.do("replay", "o", code=2)
    signature = "UPDATE meta SET value = replace(value, '\"settings\":\"', '\"settings\":\"0') WHERE key = 'provenance'"
    records.change(place.folder / "o", signature)
    assert "not made by you" in place.do("replay", "o", code=2)
    assert not place.executed()


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("UPDATE meta SET value = replace(value, '\"mixed\"', '\"none\"') WHERE key = 'settings'", "strategy"),
        ("UPDATE meta SET value = replace(value, '\"check\":\"', '\"check\":\"x') WHERE key = 'settings'", "check"),
        (
            "UPDATE meta SET value = replace(value, '\"signature\":\"', '\"signature\":\"\u00fc') WHERE key = 'provenance'",
            "",
        ),
    ],
)
def test_values_that_no_command_line_takes(statement: str, word: str, place: Place) -> None:
    records.change(place.folder / "o", statement)
    for words in (("run", "--resume", "o"), ("replay", "o")):
        assert (f"{word} cannot be" if word else "not made by you") in place.do(*words, code=74 if word else 2)
    assert not place.executed()


@pytest.mark.parametrize("name", ["image.elf", "witness.elf"])
def test_a_program_that_is_not_the_campaign_s_is_never_run(name: str, place: Place) -> None:
    place.do("run", "--out", "n", "--max-tests", "2", "p.c")
    program = place.folder / "n" / name
    program.unlink()
    program.write_text(EMULATOR.format(folder=place.folder))
    program.chmod(0o755)
    if name == "image.elf":
        for words in (("run", "--resume", "n"), ("replay", "n"), ("replay", "n", "--trust")):
            assert "is not the one" in place.do(*words, code=74)
    else:
        place.do("run", "--resume", "n")
        found = json.loads((place.folder / "n" / "summary.json").read_text())
        assert "another one" in found["witness"]["missing"]
    assert not place.executed()


def test_without_a_place_for_the_secret_no_campaign_is_one_s_own(place: Place) -> None:
    (place.folder / "file").write_text("")
    place.be("file")
    place.do("run", "--out", "n", "--max-tests", "2", "p.c")
    assert "not made by you" in place.do("replay", "n", code=2)
    place.do("replay", "n", "--trust")
    assert os.listdir(place.folder / "n" / "tests")
