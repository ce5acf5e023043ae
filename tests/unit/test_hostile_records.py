"""What stands in a record may come from somebody else: on terminals, in C, in lcov and in XML it is text and nothing
more.

The record of `recorded.py` is made with texts that would do something everywhere they were not escaped.
"""

from __future__ import annotations

import json
import re
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pages
import pytest
from msgspec import structs
from pages import CONTROL, EVIL

from score_embed.cli import main, show
from score_embed.contract.entry import Argument, Entry
from score_embed.errors import StorageError, TargetError, UsageError
from score_embed.report import ctext, findings, inputs, junit, lcov, sarif, unity
from score_embed.report.findings import Findings
from score_embed.results.store import Store


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pages.hostile(tmp_path, monkeypatch)
    return tmp_path


def read(folder: Path) -> Findings:
    with Store.read(folder) as record:
        return findings.read(record, 10)


@pytest.mark.parametrize("how", [show.result, show.report])
def test_on_a_terminal(how: object, hostile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert callable(how)
    how(read(hostile))
    out = capsys.readouterr().out
    assert "owned" in out
    assert not CONTROL.search(out), repr(CONTROL.search(out))


def test_in_messages(capsys: pytest.CaptureFixture[str], hostile: Path) -> None:
    error = TargetError(EVIL, EVIL, EVIL, [UsageError(EVIL, EVIL, EVIL)])
    assert not CONTROL.search(str(error))
    assert main.main(["export", str(hostile), "--corpus", str(hostile / "c"), "--test", "77"]) == 2
    assert main.main(["report", str(hostile / EVIL)]) == 2
    assert not CONTROL.search(capsys.readouterr().err)


def test_in_lcov(hostile: Path) -> None:
    made = lcov.tracefile(read(hostile))
    assert all(re.fullmatch(r"(TN|SF|BRDA|BRF|BRH|DA|LF|LH):.*|end_of_record", line) for line in made.splitlines())
    assert not CONTROL.search(made)


def test_in_xml_and_json(hostile: Path) -> None:
    found = read(hostile)
    made = junit.document(found)
    assert not CONTROL.search(made)
    assert "<script" not in made
    ET.fromstring(made)
    assert not CONTROL.search(sarif.document(found))
    json.loads(sarif.document(found))


def compiled(text: str, folder: Path) -> None:
    """gcc takes it, with trigraphs, and it says nothing of an #error."""
    file = folder / "made.c"
    file.write_text(text)
    (folder / "a.c").write_text("int main(void) { return 0; }\n")
    (folder / "unity.h").write_text(
        "#define UNITY_BEGIN() 0\n#define UNITY_END() 0\n#define RUN_TEST(x) x()\n#define TEST_MESSAGE(x)\n"
        "#define TEST_ASSERT_EQUAL_INT(x, y) ((void) ((x) == (y)))\n#define TEST_FAIL_MESSAGE(x)\n"
        "#define TEST_ASSERT_EQUAL_STRING_LEN(x, y, z)\n"
    )
    command = ["gcc", "-E", "-trigraphs", "-I", str(folder), str(file), "-o", "/dev/null"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_in_exported_c(hostile: Path, tmp_path: Path) -> None:
    found = read(hostile)
    with Store.read(hostile) as record:
        compiled(inputs.board_input(found, list(record.tests())[2]), tmp_path)
        for program in (found.program, structs.replace(found.program, entry=Entry("f", "a.c", (), True))):
            sources = structs.replace(found.sources, root=str(tmp_path))
            whole = structs.replace(found, program=program, sources=sources)
            compiled(unity.document(whole, record.tests(), tmp_path / "made.c"), tmp_path)


@pytest.mark.parametrize(
    "declaration",
    [
        "int x",
        "unsigned char x[16]",
        "struct point *x",
        "int (*x)(const char *, int)",
        "long unsigned int x",
        "int (*x)[3]",
    ],
)
@pytest.mark.parametrize("passed", ["x", "&x", "(void *) &x", "(int (*)[4]) &x"])
def test_what_an_entry_may_be(declaration: str, passed: str, tmp_path: Path) -> None:
    ctext.require_entry(Entry("f", "a.c", (Argument("x", declaration, passed, "raw"),), True), tmp_path)


@pytest.mark.parametrize(
    ("name", "argument", "declaration", "passed"),
    [
        ("f(0); system", "x", "int x", "x"),
        ("f\n#error", "x", "int x", "x"),
        ("f", "x; int y", "int x; int y", "x"),
        ("f", "x", "int x = system(y)", "x"),
        ("f", "x", "char x[system(score_y)]", "x"),
        ("f", "x", "int x\n#error", "x"),
        ("f", "x", 'asm("nop"); int x', "x"),
        ("f", "x", "int x", "system(score_x)"),
        ("f", "x", "int x", "(system(score_x), &x)"),
        ("f", "x", "int x", "x, y"),
        ("f", "x", "int (*x)(system(score_x))", "x"),
    ],
)
def test_what_no_entry_of_ours_is(name: str, argument: str, declaration: str, passed: str, tmp_path: Path) -> None:
    """It would be compiled and executed."""
    entry = Entry(name, "a.c", (Argument(argument, declaration, passed, "raw"),), True)
    with pytest.raises(StorageError, match="no C of ours"):
        ctext.require_entry(entry, tmp_path)


@pytest.mark.parametrize("file", ['a".c', "a\n#error.c", "a\\.c", "a??/.c", "\x1b.c"])
def test_names_that_c_cannot_include(file: str) -> None:
    with pytest.raises(UsageError, match="cannot include"):
        ctext.included(file)


def test_bytes_that_are_none(hostile: Path, tmp_path: Path) -> None:
    with Store.read(hostile) as record:
        test = next(record.tests())
    with pytest.raises(StorageError, match="hex"):
        inputs.data_of(test, EVIL)  # a number of one digit


def test_a_corpus_stays_in_its_folder(hostile: Path, tmp_path: Path) -> None:
    """Names of files are numbers, whatever the record says."""
    corpus = tmp_path / "deep" / "corpus"
    with Store.read(hostile) as record:
        inputs.corpus(record.tests(), corpus)
    assert {file.suffix for file in corpus.iterdir()} == {".bin"}
    assert list((tmp_path / "deep").iterdir()) == [corpus]
