"""The real parsers of examples/parsers on both boards: paths, time, coverage, bugs, through the command line.

    .venv/bin/python bench/parsers.py [seconds] [names…]

tools/fetch-parsers.sh brings their sources.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HARNESSES = Path(__file__).resolve().parents[1] / "examples" / "parsers"
FETCHED = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "score-embed" / "parsers"
BOARDS = ("native", "mps2-an385")
BIGNUM = (
    "mp_add_d mp_clamp mp_clear mp_cmp mp_cmp_mag mp_copy mp_div_2d mp_div_3 mp_div_d mp_exch mp_grow mp_init "
    "mp_init_copy mp_init_size mp_lshd mp_mod_2d mp_mul_2d mp_mul_d mp_radix_smap mp_read_radix mp_rshd mp_sub_d "
    "mp_to_radix mp_zero s_mp_reverse"
)


@dataclass(frozen=True)
class Parser:
    """A harness of ours, a package, which of its files and folders are needed, and more flags."""

    harness: str
    package: str
    files: tuple[str, ...]
    folders: tuple[str, ...]
    flags: tuple[str, ...] = ()

    @property
    def fetched(self) -> bool:
        return (FETCHED / self.package).is_dir()

    @property
    def main(self) -> Path:
        return HARNESSES / self.harness

    @property
    def sources(self) -> list[Path]:
        return [self.main, *(FETCHED / self.package / name for name in self.files)]

    @property
    def cflags(self) -> tuple[str, ...]:
        folders = [*(FETCHED / self.package / name for name in self.folders), self.main.parent]
        return (*(f"-I{folder}" for folder in folders), *self.flags)


PARSERS = {
    "base64": Parser("base64.c", "libb64", ("src/cdecode.c",), ("include",)),
    "modbus": Parser(
        "modbus/reply.c", "libmodbus", ("src/modbus.c", "src/modbus-data.c"), ("src",), ("-D_POSIX_TIMERS",)
    ),
    "utf8": Parser(
        "utf8.c",
        "libtomcrypt",
        ("src/pk/asn1/der/utf8/der_decode_utf8_string.c",),
        ("src/headers",),
        ("-DLTC_SOURCE", "-DARGTYPE=4"),  # arguments that are wrong are refused with an error code
    ),
    "json": Parser("json.c", "cjson", ("cJSON.c",), (".",)),
    "length": Parser("length.c", "cjson", ("cJSON.c",), (".",)),
    "http": Parser("http.c", "http-parser", ("http_parser.c",), (".",)),
    "bignum": Parser("bignum.c", "libtommath", tuple(f"bn_{name}.c" for name in BIGNUM.split()), (".",)),
    "x509": Parser(
        "x509/name.c",
        "mbedtls",
        tuple(f"library/{name}.c" for name in ("x509", "asn1parse", "oid", "platform", "platform_util")),
        ("include",),
        ("-DMBEDTLS_CONFIG_FILE=<config.h>",),
    ),
    "inflate": Parser(
        "inflate.c", "zlib", ("inflate.c", "inftrees.c", "inffast.c", "adler32.c", "crc32.c", "zutil.c"), (".",)
    ),
}


def row(name: str, board: str, seconds: int) -> str:
    """One campaign, as a row of a table."""
    parser = PARSERS[name]
    with tempfile.TemporaryDirectory() as work:
        options = ["run", "--json", "--no-witness", "--board", board, "--time", f"{seconds}s", "--out", f"{work}/out"]
        command = [sys.executable, "-m", "score_embed.cli.main", *options, *map(str, parser.sources)]
        done = subprocess.run(
            [*command, "--", *parser.cflags], capture_output=True, text=True, check=False, timeout=seconds * 3 + 120
        )
    if done.returncode not in (0, 1):
        raise SystemExit(f"{name} on {board}: exit code {done.returncode}\n{done.stderr}")
    found = json.loads(done.stdout)
    covered = f"{found['coverage']['branches_covered']}/{found['coverage']['branches_total']}"
    speed = found["paths"] / max(found["seconds"], 0.001)
    bugs = ", ".join(f"{bug['kind']} {bug['inputs']}" for bug in found["bugs"])
    values = (f"{found['seconds']:.1f}", found["stopped"], found["paths"], f"{speed:.0f}", covered, bugs or "none")
    return " | ".join(map(str, ("", name, board, *values, ""))).strip()


def main() -> None:
    words = sys.argv[1:]
    seconds = int(words.pop(0)) if words and words[0].isdigit() else 20
    print("| parser | board | seconds | stopped | paths | paths/s | branches | bugs |")
    print("|---|---|---|---|---|---|---|---|")
    for name in words or PARSERS:
        if not PARSERS[name].fetched:
            raise SystemExit(f"{PARSERS[name].package} is not there: run tools/fetch-parsers.sh")
        for board in BOARDS:
            print(row(name, board, seconds), flush=True)


if __name__ == "__main__":
    main()
