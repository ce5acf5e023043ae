"""Which cases a run of the tests takes, and what it says that they cost."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import warm
from share import ALONE, PARTS, Case, Part, case_of, in_share, share_of_commit
from times import SHOWN, Cost, Times


def cases(count: int, family: str = "f", parts: int = PARTS) -> list[Case]:
    return [Case(f"{family}[{number}]", family, parts) for number in range(count)]


@pytest.mark.parametrize("count", [1, 2, 3, PARTS, PARTS + 1, 100])
def test_each_case_comes_once_in_as_many_shares_as_there_are_parts(count: int) -> None:
    shares = [in_share(cases(count), share) for share in range(PARTS)]
    assert sorted(name for share in shares for name in share) == sorted(case.name for case in cases(count))
    assert {len(share) for share in shares} <= {count // PARTS, -(-count // PARTS)}
    assert in_share(cases(count), PARTS) == shares[0]


def test_small_families_take_turns() -> None:
    """Each share has its part of them, whatever they are called."""
    small = [case for family in range(400) for case in cases(2, f"test_{family}")]
    counts = [len(in_share(small, share)) for share in range(PARTS)]
    assert sum(counts) == len(small)
    assert all(0.6 < count * PARTS / len(small) < 1.5 for count in counts)


def test_families_do_not_disturb_each_other() -> None:
    both = in_share([*cases(9), *cases(30, "g", 10), *cases(5, "h", 1)], 7)
    assert both == in_share(cases(9), 7) | in_share(cases(30, "g", 10), 7) | {case.name for case in cases(5, "h")}


def test_the_order_of_cases_has_no_say() -> None:
    assert in_share(cases(20), 3) == in_share(reversed(cases(20)), 3)


def test_tests_without_cases_take_turns_in_their_file() -> None:
    def alone(name: str, folder: str = "e2e", whole: bool = False) -> Case:
        return case_of(name, Path(folder) / "test_x.py", name, None, False, whole)

    turns = [in_share([alone(name) for name in "abcdefgh"], share) for share in range(ALONE)]
    assert sorted(name for turn in turns for name in turn) == list("abcdefgh")
    assert {len(turn) for turn in turns} == {8 // ALONE}
    assert in_share([alone(name, "unit") for name in "abcd"], 1) == set("abcd")
    assert in_share([alone(name, whole=True) for name in "abcd"], 1) == set("abcd")


@pytest.mark.parametrize(
    ("parts", "whole", "expected"), [(None, False, PARTS), (None, True, 1), (9, False, 9), (9, True, 9)]
)
def test_cases_of_a_test_are_a_family(parts: int | None, whole: bool, expected: int) -> None:
    assert case_of("t[1]", Path("e2e/test_x.py"), "t", parts, True, whole) == Case("t[1]", "t", expected)


@pytest.mark.parametrize("of", [1, 2, 8])
def test_each_test_is_in_one_part(of: int) -> None:
    parts = [Part.read(f"{number}/{of}") for number in range(1, of + 1)]
    names = [case.name for case in cases(50)]
    assert [sum(name in part for part in parts) for name in names] == [1] * 50
    assert all(any(name in part for name in names) for part in parts)


@pytest.mark.parametrize("text", ["", "3", "0/4", "5/4", "-1/4", "1/0", "1/2/3", "a/b"])
def test_what_is_no_part_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a part|invalid literal"):
        Part.read(text)


def test_a_folder_without_commits_has_a_share(tmp_path: Path) -> None:
    assert share_of_commit(tmp_path) == 0
    assert share_of_commit(Path(__file__).parent) >= 0


def test_times() -> None:
    times = Times()
    for number in range(SHOWN + 2):
        times.add(f"tests/test_{number}.py::test[{number}]", Cost(1, 2.0, number))
        times.add(f"tests/test_{number}.py::other", Cost(1, 1.0, 0.5))
    _, first, *_, rest, total = times.table()
    assert first.split() == ["2", "3.0", "s", f"{SHOWN + 1.5}", "s", f"tests/test_{SHOWN + 1}.py"]
    assert rest.split() == ["4", "6.0", "s", "2.0", "s", "2", "other", "files"]
    assert total.split()[0] == f"{2 * (SHOWN + 2)}"


def test_who_starts_otherwise_gets_a_process_of_its_own() -> None:
    server = warm.Server()
    assert server.fits(os.environ)
    assert server.fits({**os.environ, "SCORE_EMBED_SEED": "1"})
    assert not server.fits({**os.environ, "PYTHONHASHSEED": "1"})
    server.close()
    assert server.process.returncode == 0
    assert not server.fits(os.environ)


def test_a_warm_process_is_like_any_other(tmp_path: Path) -> None:
    server = warm.Server()
    done, seconds = server.run(["--version"], tmp_path, 60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("score-embed ")
    assert 0 < seconds < 60
    done, _ = server.run(["run", "nowhere.c"], tmp_path, 60)
    assert done.returncode == 2
    assert "nowhere.c" in done.stderr
    with pytest.raises(subprocess.TimeoutExpired):
        server.run(["doctor"], tmp_path, 0)
    done, _ = server.run(["boards"], tmp_path, 60)
    assert "native" in done.stdout
    server.close()
    assert server.process.returncode == 0
