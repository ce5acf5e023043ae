"""Parsers of real devices, as Debian has their sources: the bugs known of these versions are found again.

tools/fetch-parsers.sh (which setup.sh calls) brings them; without them there is nothing to explore.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from runner import BOARDS, Campaign, explore_files

HARNESSES = Path(__file__).parents[2] / "examples" / "parsers"
FETCHED = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "score-embed" / "parsers"
NEWLINE_AND_CO = set(range(256)) - set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")


def fetched(name: str) -> Path:
    folder = FETCHED / name
    if not folder.is_dir():
        pytest.skip(f"{name} was not fetched: tools/fetch-parsers.sh needs a Debian mirror")
    return folder


def base64(folder: Path, board: str) -> Campaign:
    library = fetched("libb64")
    sources = (HARNESSES / "base64.c", library / "src" / "cdecode.c")
    return explore_files(folder, sources, "--board", board, "--max-tests", "100", cflags=(f"-I{library / 'include'}",))


def test_base64_reads_past_its_table(tmp_path: Path) -> None:
    """`{` is one more than the table's last entry: decoded to whatever lies there."""
    (bug,) = base64(tmp_path, "native").summary["bugs"]
    assert (bug["kind"], bug["file"], bug["confirmed"]) == ("assertion", str(HARNESSES / "base64.c"), True)
    assert b"{" in bytes.fromhex(bug["inputs"]["text"])


def test_base64_on_a_board_with_unsigned_char(tmp_path: Path) -> None:
    """`fragment < 0` is never true where char is unsigned: what should be skipped is decoded. The processor decides."""
    (bug,) = base64(tmp_path, "mps2-an385").summary["bugs"]
    text = bytes.fromhex(bug["inputs"]["text"])
    assert b"{" not in text
    assert set(text) & NEWLINE_AND_CO


@pytest.mark.parametrize("board", BOARDS)
def test_modbus_writes_below_its_registers(board: str, tmp_path: Path) -> None:
    """Function 0x17 checks the address to read twice, and the lower bound of the one to write never."""
    library = fetched("libmodbus") / "src"
    harness = HARNESSES / "modbus"
    sources = (harness / "reply.c", library / "modbus.c", library / "modbus-data.c")
    cflags = (f"-I{library}", f"-I{harness}", "-D_POSIX_TIMERS")
    found = explore_files(tmp_path, sources, "--board", board, "--time", "60s", cflags=cflags)
    assert found.summary["stopped"] == "drained", "response_exception has variable arguments: it is left alone"
    (bug,) = found.summary["bugs"]
    (line,) = (n for n, text in enumerate(sources[0].read_text().splitlines(), 1) if "before[i] == 0" in text)
    assert (bug["kind"], bug["line"], bug["confirmed"]) == ("assertion", line, True)
    request = bytes.fromhex(bug["inputs"]["request"])
    assert request[1] == 0x17
    assert int.from_bytes(request[6:8], "big") < 16, "the address to write lies below the first register"
