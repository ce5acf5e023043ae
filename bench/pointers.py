"""Do harnesses pass pointers that nobody made? `python bench/pointers.py [--list] NAME FILE.c… [-- CFLAGS…]`

Of each function that the files of a library define the harness runs as a plain program over inputs at random, and a
program of our own looks at the memory that the function finds (tests/support/entered.py). The line says how many
functions there are, and how many pass: no pointer leads nowhere, and if the function takes pointers, some were not
null.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import entered  # noqa: E402

from score_embed.errors import ScoreError  # noqa: E402


def main() -> int:
    sub = argparse.ArgumentParser(description=__doc__)
    sub.add_argument("--list", action="store_true", help="name the functions that do not pass")
    sub.add_argument("name")
    sub.add_argument("files", nargs="+", type=Path)
    words = sys.argv[1:]
    cflags = words[words.index("--") + 1 :] if "--" in words else []
    values = sub.parse_args(words[: words.index("--")] if "--" in words else words)
    total: Counter[str] = Counter()
    pointers = unions = 0
    for path in values.files:
        with tempfile.TemporaryDirectory() as folder:
            try:
                looks = entered.look_at(path, cflags, Path(folder))
            except (ScoreError, ValueError) as error:
                print(f"{path}: {error}")
                return 1
        total += entered.counted(looks)
        pointers += sum(look.pointers for look in looks)
        unions += sum(look.unions for look in looks)
        if values.list:
            for look in looks:
                if look.verdict not in entered.PASSES:
                    print(f"  {path.name}: {look.function}: {look.verdict}: {'; '.join(look.said[:4])}")
    passed, functions = sum(total[verdict] for verdict in entered.PASSES), total.total()
    others = ", ".join(f"{count} {verdict}" for verdict, count in total.items() if verdict not in entered.PASSES)
    share = f"{100 * passed / max(1, functions):.1f} %"
    seen = f"{pointers} pointers seen, {unions} in unions not looked at"
    print(f"{values.name}: {passed} of {functions} functions pass ({share}; {others or 'all'}); {seen}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
