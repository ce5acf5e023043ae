"""The types of all expressions, and what is printed of C that is not instrumented, judged by the boards' compilers.

On our own programs, and on whole libraries that others wrote; a file of each library in every test run, all of them
with --all.
"""

from __future__ import annotations

import itertools
import shutil
from dataclasses import dataclass
from pathlib import Path

import corpus
import pytest
from compilers import assert_same_code
from parsers import FETCHED
from proof import FULL
from test_proof_paths import NOT_ON_AVR
from type_oracle import judge

from score_embed.board.profile import find_board
from score_embed.errors import BuildError
from score_embed.frontend.types.ctype import Types
from score_embed.image.toolchain import Toolchain

BOARDS = ("native", "mps2-an385", "arduino-mega2560")


@dataclass(frozen=True)
class Library:
    """A package: where its code is, flags, and the file for every test run."""

    folder: str
    flags: tuple[str, ...]
    daily: str


LIBRARIES = {
    "libb64": Library("src", ("-I{}/include",), "cdecode.c"),
    "libmodbus": Library(
        "src", ("-I{}/src", "-I" + str(corpus.FOLDER.parents[1] / "examples" / "parsers" / "modbus")), "modbus-data.c"
    ),
    "cjson": Library(".", ("-I{}",), "cJSON.c"),
    "libtomcrypt": Library("src", ("-I{}/src/headers", "-DLTC_SOURCE"), "pk/asn1/der/utf8/der_decode_utf8_string.c"),
    "http-parser": Library(".", ("-I{}",), "http_parser.c"),
    "jsmn": Library(".", ("-I{}",), "example/simple.c"),
    "libtommath": Library(".", ("-I{}",), "bn_mp_div.c"),
    "mbedtls": Library("library", ("-I{}/include", "-I{}/library"), "asn1parse.c"),
    "zlib": Library(".", ("-I{}", "-DHAVE_UNISTD_H"), "inftrees.c"),
}

NOT_THERE = {  # what the compiler has nothing of, or takes only as far as it is checked here
    ("arduino-mega2560", "libtomcrypt"),
    ("arduino-mega2560", "examples"),  # zlib's: 64 KiB on the stack
}
CASES = [(board, name) for board in BOARDS for name in LIBRARIES if (board, name) not in NOT_THERE]
if not FULL:
    CASES = [case for case in zip(itertools.cycle(BOARDS), LIBRARIES) if case in CASES]  # each library somewhere


def files(name: str) -> list[Path]:
    library = LIBRARIES[name]
    folder = FETCHED / name / library.folder
    if not folder.is_dir():
        pytest.skip(f"{name} was not fetched: tools/fetch-parsers.sh needs a Debian mirror")
    return sorted(folder.rglob("*.c")) if FULL else [folder / library.daily]


def flags(name: str) -> list[str]:
    return [flag.format(FETCHED / name) for flag in LIBRARIES[name].flags]


def needs(board: str) -> None:
    if shutil.which(find_board(board).cc) is None:
        pytest.skip(f"the compiler of {board} is not installed")


def fits(board: str, name: str, file: Path) -> bool:
    """Whether the board's compiler takes the file as its authors wrote it: not all are made for every system."""
    if any((board, part) in NOT_THERE for part in file.parts):
        return False
    try:
        Toolchain(find_board(board)).check_source(file, flags(name), probes=True)
    except BuildError:
        return False
    return True


@pytest.mark.parametrize("board", BOARDS)
def test_types_in_our_programs(board: str, tmp_path: Path) -> None:
    needs(board)
    names = [p.name for p in corpus.programs() if p.name != "scopes"]  # it has a struct in a `for` that gets a name
    if board == "arduino-mega2560":
        names = [name for name in names if name not in NOT_ON_AVR]
    asserted = 0
    for name in names if FULL else names[BOARDS.index(board) :: len(BOARDS) * 3]:
        verdicts = judge(find_board(board), corpus.FOLDER / f"{name}.c", [], tmp_path)
        assert not verdicts.wrong, name
        asserted += verdicts.asserted
    assert asserted > (6000 if FULL else 300)


@pytest.mark.parametrize(("board", "name"), CASES)
def test_types_in_libraries(board: str, name: str, tmp_path: Path) -> None:
    needs(board)
    asserted = skipped = 0
    for file in files(name):
        if not fits(board, name, file):
            skipped += 1
            continue
        verdicts = judge(find_board(board), file, flags(name), tmp_path)
        assert not verdicts.wrong, file
        asserted += verdicts.asserted
    assert asserted or skipped == len(files(name))
    print(f"{name} on {board}: {asserted} types, {skipped} files not for this board")


@pytest.mark.parametrize(("board", "name"), CASES)
def test_libraries_are_printed_as_the_same_program(board: str, name: str) -> None:
    needs(board)
    toolchain = Toolchain(find_board(board))
    for file in files(name):
        if fits(board, name, file):
            assert_same_code(toolchain.board.cc, file, tuple(toolchain.preprocessor_flags(flags(name))))


def test_a_wrong_type_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "p.c"
    source.write_text("int main(void) { unsigned u = 1; short s = -1; return u * s > 0; }\n")
    assert judge(find_board("native"), source, [], tmp_path).wrong == []
    monkeypatch.setattr(Types, "usual", lambda types, a, b: types.promote(b))
    (wrong,) = judge(find_board("native"), source, [], tmp_path).wrong
    assert "p.c:1:55: u * s is not int" in wrong


QUALIFIED = """
typedef unsigned char block_t[4];
struct device { block_t block; unsigned char plain[2][3]; const unsigned char *name; };
static volatile block_t shared;
static volatile struct device device;
static const struct device fixed = { { 1, 2, 3, 4 }, { { 0 } }, 0 };
static const block_t table = { 1, 2, 3, 4 };
int main(void)
{
    volatile struct device *p = &device;
    const struct device *q = &fixed;
    int x = 1;
    return shared[0] + *(shared + 1) + *(device.block + 1) + **(p->plain + 1) + *p->name + *(table + 1)
        + (&shared == 0) + (shared + 1 == p->block) + (p->plain == 0) + *(q->block + 1) + *(fixed.block + x) + (&q->name == 0);
}
"""


CHOSEN = """
typedef int row[2];
int main(void)
{
    int x = 1;
    int *plain = &x;
    const int *fixed = &x;
    volatile int *shared = &x;
    void *anything = &x;
    const void *unknown = &x;
    const char *text = "";
    row rows[2];
    const row *table = (const row *)rows;
    row *writable = rows;
    return (x ? plain : fixed) == 0 || (x ? fixed : shared) == 0 || (x ? shared : anything) == 0 || (x ? "" : text) == 0
        || (x ? unknown : plain) == 0 || (x ? 0 : fixed) == 0 || (x ? plain : (void *)0) == 0 || (fixed ?: plain) == 0
        || (x ? anything : fixed) == 0 || (x ? table : writable) == 0 || (x ? writable : table) == 0 || *(x ? plain : shared);
}
"""


@pytest.mark.parametrize("text", [QUALIFIED, CHOSEN], ids=["arrays", "conditionals"])
@pytest.mark.parametrize("board", BOARDS)
def test_qualifiers_of_what_is_pointed_to(board: str, text: str, tmp_path: Path) -> None:
    """Those of an array are its elements' and stay when it decays; a conditional has both sides' (C11 6.5.15p6)."""
    needs(board)
    source = tmp_path / "p.c"
    source.write_text(text)
    verdicts = judge(find_board(board), source, [], tmp_path)
    assert (verdicts.wrong, verdicts.skipped) == ([], 0)
