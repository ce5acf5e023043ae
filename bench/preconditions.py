"""Functions that state preconditions, and bugs that are left: `python bench/preconditions.py [--time 3s] [FUNCTION…]`.

aws-c-common writes what its functions ask for into its code (`AWS_PRECONDITION(aws_byte_buf_is_valid(buf))`), which is
what its CBMC proofs rest on. PyPI's source of awscrt has it. Its debug build has the preconditions; `unit` explores
each function within them, and with the hints of `preconditions/aws-c-common.yaml`, which says of each known bug what
it is. So a bug that is listed as one is new: look at it. The exit code is that of `unit`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

_VERSION = "0.38.1"
_CACHE = Path.home() / ".cache" / "score-embed" / "pre"
_HINTS = Path(__file__).resolve().parent / "preconditions" / "aws-c-common.yaml"
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


def main() -> int:
    sub = argparse.ArgumentParser(description=__doc__)
    sub.add_argument("--time", default="3s", help="for each function")
    sub.add_argument("--out", help="where results go, to look at them")
    sub.add_argument("functions", nargs="*", default=_FUNCTIONS, metavar="FUNCTION")
    values = sub.parse_args()
    library = fetched()
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "include" / "aws" / "common" / "config.h"
        config.parent.mkdir(parents=True)
        config.write_text(_CONFIG)
        (config.parents[2] / "assertions.h").write_text(_ASSERTIONS)
        command = ["score-embed", "unit", "--time", values.time, "--hints", str(_HINTS), "--no-witness"]
        command += ["--out", values.out or f"{folder}/out"]
        command += [word for name in values.functions for word in ("--function", name)]
        command += [str(library / "source" / f"{name}.c") for name in _FILES]
        command += ["--", f"-I{folder}/include", f"-I{library / 'include'}", "-DDEBUG_BUILD"]
        command += ["-include", "assertions.h"]
        return subprocess.run(command, check=False, timeout=7200).returncode


if __name__ == "__main__":
    sys.exit(main())
