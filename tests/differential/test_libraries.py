"""Libraries that others wrote, instrumented whole: their own test programs say what they say without probes.

A small one in every test run, all with --all. tools/fetch-parsers.sh (which setup.sh calls) brings them.
"""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import corpus
import pytest
from parsers import FETCHED
from proof import FULL

from score_embed.board.profile import QemuRun, find_board
from score_embed.contract.outcome import Finished, Run, Target, Verdict
from score_embed.device.native import NativeTarget
from score_embed.device.qemu import QemuTarget
from score_embed.image.image import Image

CJSON = [
    "parse_hex4",
    "misc_tests",
    "parse_array",
    "parse_number",
    "parse_object",
    "parse_string",
    "parse_value",
    "parse_with_opts",
    "print_array",
    "print_number",
    "print_object",
    "print_string",
    "print_value",
    "readme_examples",
    "minify_tests",
    "cjson_add",
    "compare_tests",
]
SUPPORT = Path(__file__).resolve().parents[1] / "support"
ZLIB = (
    "adler32 compress crc32 deflate gzclose gzlib gzread gzwrite infback inffast inflate inftrees trees uncompr zutil"
)
_INCLUDED = re.compile(r'^\s*#\s*include\s*["<](?:.*/)?(\w+\.c)[">]', re.MULTILINE)


@dataclass(frozen=True)
class TestOf:
    """A test program of a library: patterns of its files, the one with main first, and flags; boards that have what it
    needs (files, 64 KiB and more). `reads`: folders that it looks for where it runs. `{}` is where packages are."""

    __test__ = False

    package: str
    files: tuple[str, ...]
    flags: tuple[str, ...]
    boards: tuple[str, ...] = ("native", "native32")
    reads: tuple[str, ...] = ()

    @property
    def sources(self) -> list[Path]:
        """What others include (`aes_tab.c`) is none."""
        found = [path for name in self.files for path in sorted((FETCHED / self.package).glob(name))]
        included = {name for path in found for name in _INCLUDED.findall(path.read_text(errors="replace"))}
        return [path for path in dict.fromkeys(found) if path.name not in included]

    @property
    def cflags(self) -> list[str]:
        return ["-w", "-lm", *(flag.format(FETCHED) for flag in self.flags)]


TESTS = {
    **{
        name: TestOf(
            "cjson",
            (f"tests/{name}.c", "tests/unity/src/unity.c"),
            ("-I{}/cjson/tests", "-I{}/cjson/tests/unity/src"),
            ("native", "native32", "mps2-an385"),
        )
        for name in CJSON
    },
    "http-parser": TestOf("http-parser", ("test.c", "http_parser.c"), ("-I{}/http-parser",)),
    **{
        name: TestOf("jsmn", ("test/tests.c",), flags, ("native", "native32", "mps2-an385"))
        for name, flags in {
            "jsmn": (),
            "jsmn strict": ("-DJSMN_STRICT=1",),
            "jsmn links": ("-DJSMN_STRICT=1", "-DJSMN_PARENT_LINKS=1"),
        }.items()
    },
    "mbedtls": TestOf(
        "mbedtls",
        ("programs/test/selftest.c", "library/*.c"),
        ("-I{}/mbedtls/include", "-I{}/mbedtls/library", f'-DMBEDTLS_USER_CONFIG_FILE="{SUPPORT}/mbedtls_config.h"'),
    ),
    "libtommath": TestOf("libtommath", ("demo/test.c", "demo/shared.c", "*.c"), ("-I{}/libtommath",)),
    "libtomcrypt": TestOf(
        "libtomcrypt",
        ("tests/test.c", "tests/*.c", "src/**/*.c"),
        ("-I{}/libtomcrypt/src/headers", "-I{}/libtomcrypt/tests", "-DLTC_SOURCE", "-DLTC_NO_TEST_TIMING"),
        reads=("tests",),
    ),
    **{
        name: TestOf(
            "zlib",
            (f"test/{name}.c", *(f"{part}.c" for part in ZLIB.split())),
            ("-I{}/zlib", "-DHAVE_UNISTD_H", "-D_LARGEFILE64_SOURCE=1"),
            ("native",),
        )
        for name in ("example", "infcover")
    },
}
CASES = [(board, name) for name, test in TESTS.items() for board in test.boards]
PATIENCE = 1800  # seconds, for programs that try all of something
BRANCHES = 2**32 - 1


def plain(board: str, test: TestOf, folder: Path) -> Finished:
    """What the program does without probes: by the same runtime, its files compiled as `--native`."""
    caller, renamed = folder / "caller.c", folder / "renamed.c"
    caller.write_text("int test_main(int, char **);\nint main(int n, char **words) { return test_main(n, words); }\n")
    renamed.write_text(f'#define main test_main\n#include "{test.sources[0]}"\n')
    return run(board, corpus.build(board, [caller], native=[renamed, *test.sources[1:]], cflags=test.cflags))


def run(board: str, image: Image) -> Finished:
    with closing(patient(board, image)) as target:
        return target.run(Run(1, b"", max_branches=BRANCHES))


def patient(board: str, image: Image) -> Target:
    """A target whose watch-dog waits for long."""
    how = find_board(board).run
    if isinstance(how, QemuRun):
        return QemuTarget(image.elf, image.build_id, how, watchdog=PATIENCE)
    return NativeTarget(image.elf, image.build_id, watchdog=PATIENCE)


@pytest.mark.parametrize(("board", "name"), CASES if FULL else CASES[:1])
def test_a_librarys_own_test(board: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    test = TESTS[name]
    if not (FETCHED / test.package).is_dir():
        pytest.skip(f"{test.package} was not fetched: tools/fetch-parsers.sh needs a Debian mirror")
    monkeypatch.chdir(tmp_path)  # they write files
    for folder in test.reads:
        (tmp_path / folder).symlink_to(FETCHED / test.package / folder)
    expected = plain(board, test, tmp_path)
    if (expected.verdict, expected.code) != (Verdict.RETURN, 0):
        pytest.skip("it does not pass there: printf without floating point, little memory")
    found = run(board, corpus.build(board, test.sources, cflags=test.cflags))
    assert (found.verdict, found.code, found.output) == (expected.verdict, 0, expected.output), found.output[-500:]
