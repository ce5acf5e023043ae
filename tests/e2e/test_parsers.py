"""Parsers of real devices, as Debian has their sources: the bugs known of these versions are found again.

tools/fetch-parsers.sh (which setup.sh calls) brings them; without them there is nothing to explore.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from parsers import PARSERS
from proof import FULL
from runner import BOARDS, explore_files

ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="


def explored(name: str, folder: Path, board: str, *options: str) -> dict[str, Any]:
    """The summary of a campaign on that parser."""
    folder.mkdir(exist_ok=True)
    parser = PARSERS[name]
    if not parser.fetched:
        pytest.skip(f"{parser.package} was not fetched: tools/fetch-parsers.sh needs a Debian mirror")
    return explore_files(folder, parser.sources, "--board", board, *options, cflags=parser.cflags).summary


def line_with(name: str, text: str) -> int:
    (line,) = (n for n, code in enumerate(PARSERS[name].main.read_text().splitlines(), 1) if text in code)
    return line


def the_bug(name: str, found: dict[str, Any], text: str) -> bytes:
    """The only bug but for accesses beyond tables is a confirmed failure of this assertion; returns the input."""
    (bug,) = (bug for bug in found["bugs"] if bug["kind"] != "out-of-bounds")
    place = (bug["kind"], bug["file"], bug["line"], bug["confirmed"])
    assert place == ("assertion", str(PARSERS[name].main), line_with(name, text), True)
    (value,) = bug["inputs"].values()
    return bytes.fromhex(value)


def test_base64_reads_past_its_table(tmp_path: Path) -> None:
    """`{` is one more than the table's last entry: decoded to whatever lies there."""
    found = explored("base64", tmp_path, "native", "--max-tests", "100")
    (bug,) = found["bugs"]
    place = (bug["kind"], Path(bug["file"]).name, bug["function"], bug["confirmed"])
    assert place == ("out-of-bounds", "cdecode.c", "base64_decode_value", True)
    assert b"{" in bytes.fromhex(bug["inputs"]["text"])
    unchecked = explored("base64", tmp_path / "unchecked", "native", "--max-tests", "100", "--check", "none")
    assert b"{" in the_bug("base64", unchecked, "SCORE_ASSERT(")


def test_base64_on_a_board_with_unsigned_char(tmp_path: Path) -> None:
    """`fragment < 0` is never true where char is unsigned: what should be skipped is decoded. The processor decides."""
    found = explored("base64", tmp_path, "mps2-an385", "--max-tests", "100")
    text = the_bug("base64", found, "SCORE_ASSERT(")
    assert b"{" not in text
    assert set(text) - set(ALPHABET)


@pytest.mark.parametrize("board", BOARDS)
def test_modbus_writes_below_its_registers(board: str, tmp_path: Path) -> None:
    """Function 0x17 checks the address to read twice, and the lower bound of the one to write never."""
    found = explored("modbus", tmp_path, board, "--time", "30s")
    request = the_bug("modbus", found, "before[i] == 0")
    assert request[1] == 0x17
    assert int.from_bytes(request[6:8], "big") < 16, "the address to write lies below the first register"


@pytest.mark.parametrize("board", BOARDS)
def test_utf8_reads_past_the_message(board: str, tmp_path: Path) -> None:
    """A lone continuation byte at the end makes the decoder fetch one more byte than there is."""
    found = explored("utf8", tmp_path, board, "--time", "30s")
    assert found["stopped"] == "exhausted"
    message = the_bug("utf8", found, "== result")
    assert message[0] & 0x1F == 0x0C
    assert message[-1] & 0xC0 == 0x80


@pytest.mark.parametrize("board", BOARDS)
def test_json_keeps_its_promise(board: str, tmp_path: Path) -> None:
    found = explored("json", tmp_path, board, "--max-tests", "500")
    assert found["bugs"] == []
    assert found["paths"] == 500
    assert found["divergences"] == 0


def test_json_reads_past_the_length_it_was_told(tmp_path: Path) -> None:
    """After a comma in an object one more character is looked at, whether there is one or not. (Natively: the
    tutorial.)"""
    found = explored("length", tmp_path, "mps2-an385", "--strategy", "dfs", "--max-tests", "150")
    (bug,) = found["bugs"]
    place = (bug["kind"], Path(bug["file"]).name, bug["function"], bug["confirmed"])
    assert place == ("out-of-bounds", "cJSON.c", "parse_string", True)
    assert bytes.fromhex(bug["inputs"]["text"]).endswith(b",")


def test_bignum_reads_past_its_table_where_char_is_unsigned(tmp_path: Path) -> None:
    """0x80 is 88 places behind '(', where the table of digits ends: what lies there is taken for a digit."""
    found = explored("bignum", tmp_path / "arm", "mps2-an385", "--strategy", "dfs", "--max-tests", "12")
    (bug,) = found["bugs"]
    place = (bug["kind"], Path(bug["file"]).name, bug["function"], bug["confirmed"])
    assert place == ("out-of-bounds", "bn_mp_read_radix.c", "mp_read_radix", True)
    assert 0x80 in bytes.fromhex(bug["inputs"]["text"])
    assert explored("bignum", tmp_path / "native", "native", "--max-tests", "100")["bugs"] == []


@pytest.mark.parametrize(
    ("name", "board"),
    [("http", "native"), *([(name, board) for name in PARSERS for board in BOARDS] if FULL else [])],
)
def test_what_is_stored_is_what_the_formulas_say(name: str, board: str, tmp_path: Path) -> None:
    """With --all: all parsers, for a minute."""
    found = explored(name, tmp_path, board, "--verify", *(("--time", "60s") if FULL else ("--max-tests", "40")))
    assert found["divergences"] == 0
    assert found["paths"] >= (10 if FULL else 40)


def test_the_bench_runs(tmp_path: Path) -> None:
    if not PARSERS["utf8"].fetched:
        pytest.skip("libtomcrypt was not fetched: tools/fetch-parsers.sh needs a Debian mirror")
    command = [sys.executable, str(Path(__file__).parents[2] / "bench" / "parsers.py"), "5", "utf8"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("| exhausted | 67 | ") == len(BOARDS)
