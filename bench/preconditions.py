"""Functions that ask for preconditions, and bugs that are left: `python bench/preconditions.py [--library libmpack]
[--time 3s] [FUNCTION…]`.

aws-c-common writes what its functions ask for into its code (`AWS_PRECONDITION(aws_byte_buf_is_valid(buf))`), which is
what its CBMC proofs rest on. PyPI's source of awscrt has it, and its debug build has the preconditions. libmpack
(Debian's source) has a few assertions; what else holds of its structures and of its inner functions' arguments is read
from the code. `unit` explores each function within both, and within the hints of `preconditions/`, which say of each
known bug what it is, too. So a bug that is listed as one is new: look at it. The exit code is that of `unit`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from parsers import FETCHED

_VERSION = "0.38.1"
_CACHE = Path.home() / ".cache" / "score-embed" / "pre"
_ROOT = Path(__file__).resolve().parents[1]
_FILES = ("byte_buf", "array_list", "string", "encoding", "allocator", "error", "common")
_FUNCTIONS = ("aws_byte_*", "aws_array_*", "aws_string_*", "aws_*code*")
_CONFIG = "#define AWS_HAVE_GCC_OVERFLOW_MATH_EXTENSIONS\n"  # what its CMake writes
# so that a failure is where the assertion is, and not in a function of the library
_ASSERTIONS = """
#include <assert.h>
#include <aws/common/assert.h>
#undef AWS_FATAL_ASSERT
#define AWS_FATAL_ASSERT(condition) assert(condition)
"""


def fetched() -> Path:
    """The folder of aws-c-common, fetched once."""
    unpacked = _CACHE / f"awscrt-{_VERSION}"
    if not unpacked.exists():
        _CACHE.mkdir(parents=True, exist_ok=True)
        wanted = ["--no-deps", "--no-binary", ":all:", "--dest", str(_CACHE), f"awscrt=={_VERSION}"]
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", *wanted], check=True, timeout=600)
        with tarfile.open(_CACHE / f"awscrt-{_VERSION}.tar.gz") as archive:
            archive.extractall(_CACHE, filter="data")
    return unpacked / "crt" / "aws-c-common"


@dataclass(frozen=True)
class Library:
    """`functions`: those that are explored if nobody says which."""

    files: Sequence[Path]
    flags: Sequence[str]
    functions: Sequence[str] = ()


def aws_c_common(folder: Path) -> Library:
    config = folder / "include" / "aws" / "common" / "config.h"
    config.parent.mkdir(parents=True)
    config.write_text(_CONFIG)
    (folder / "include" / "assertions.h").write_text(_ASSERTIONS)
    library = fetched()
    flags = [f"-I{folder}/include", f"-I{library / 'include'}", "-DDEBUG_BUILD", "-include", "assertions.h"]
    return Library([library / "source" / f"{name}.c" for name in _FILES], flags, _FUNCTIONS)


def libmpack(folder: Path) -> Library:
    subprocess.run([_ROOT / "tools" / "fetch-parsers.sh", "libmpack"], check=True, timeout=600)
    sources = FETCHED / "libmpack" / "src"
    return Library([sources / f"{name}.c" for name in ("conv", "core", "object", "rpc")], [f"-I{sources}"])


_LIBRARIES = {"aws-c-common": aws_c_common, "libmpack": libmpack}


def main() -> int:
    sub = argparse.ArgumentParser(description=__doc__)
    sub.add_argument("--library", choices=_LIBRARIES, default="aws-c-common")
    sub.add_argument("--time", default="3s", help="for each function")
    sub.add_argument("--out", help="where results go, to look at them")
    sub.add_argument("functions", nargs="*", metavar="FUNCTION")
    values = sub.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        library = _LIBRARIES[values.library](Path(folder))
        hints = _ROOT / "bench" / "preconditions" / f"{values.library}.yaml"
        command = ["score-embed", "unit", "--time", values.time, "--hints", str(hints), "--no-witness"]
        command += ["--out", values.out or f"{folder}/out"]
        command += [word for name in values.functions or library.functions for word in ("--function", name)]
        command += [*map(str, library.files), "--", *library.flags]
        return subprocess.run(command, check=False, timeout=7200).returncode


if __name__ == "__main__":
    sys.exit(main())
