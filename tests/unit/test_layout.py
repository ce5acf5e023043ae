"""Where bit-fields lie, as the board's compiler says it; the front-end's own answer where it says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from score_embed.board.profile import find_board
from score_embed.contract.program import Source
from score_embed.errors import BuildError
from score_embed.frontend.declarations.layout import located
from score_embed.frontend.ir.exp import Storage
from score_embed.frontend.program import instrument_program
from score_embed.image.image import build_image
from score_embed.image.measure import Measured
from score_embed.image.toolchain import Toolchain


def of(shift: int, width: int, size: int) -> Storage | None:
    return located((((1 << width) - 1) << shift).to_bytes(size, "little"), (1 << shift).to_bytes(size, "little"))


def test_the_fewest_bytes_that_hold_it() -> None:
    assert of(3, 4, 4) == Storage(0, 1, 3, 4)
    assert of(13, 4, 4) == Storage(1, 2, 5, 4)
    assert of(8, 24, 4) == Storage(0, 4, 8, 24), "not beyond the record's end"
    assert of(0, 64, 16) == Storage(0, 8, 0, 64)
    assert of(70, 33, 16) == Storage(8, 8, 6, 33)


def test_what_no_bytes_hold_is_unknown() -> None:
    assert of(0, 24, 3) is None
    assert of(4, 64, 9) is None
    assert located(b"", b"") is None
    assert located(b"\0\0", b"\0\0") is None
    assert located(b"\x81", b"\x01") is None, "in pieces"
    assert located(b"\xff\xff", b"\0\x01") is None, "high byte first"


RECORDS = """
struct s { char c; int f : 3; };
struct u { int a : 2; struct { int b : 3; }; };
typedef struct { unsigned d : 9; } t;
static int callee(struct s *p) { return p->f; }
static int (*table[])(struct s *) = { callee };
int one(struct u *p) { return p->b + p->a; }
int two(t *p) { struct inner { char x[5]; unsigned e : 4; } i = { "", p->d }; return i.e; }
int three(void) { struct { struct { unsigned g : 4; } m; } i = { { 1 } }; return i.m.g; }
struct later { int h : 5; };
int four(struct later *p) { return p->h; }
"""


def instrumented(text: str, asked: list[str], tmp_path: Path, *cflags: str, board: str = "native") -> str:
    toolchain, path = Toolchain(find_board(board)), tmp_path / "file.c"
    measured = Measured(toolchain, {path: cflags}, tmp_path)

    def measure(source: Path, question: str) -> Mapping[int, bytes]:
        asked.append(question)
        return measured(source, question)

    model = toolchain.data_model(cflags)
    options = {"instrument": (), "argument_order": "right", "verify": False, "strict": True}
    program = instrument_program([Source(path, text)], model, measure=measure, **options)  # type: ignore[arg-type]
    assert not program.notes
    return program.texts[0]


def test_records_of_files_and_functions(tmp_path: Path) -> None:
    asked: list[str] = []
    text = instrumented(RECORDS, asked, tmp_path)
    assert '"bit-field"' not in text
    assert "sc_tainted" not in text
    assert len(asked) == 4, "one for the file, one for each that it cannot name, one for what comes later"
    again: list[str] = []
    assert instrumented(RECORDS, again, tmp_path) == text
    assert again == asked
    kept = list(tmp_path.glob("*.layout"))
    assert len(kept) == 4, "from the cache"
    kept[0].write_bytes(b"damaged")
    assert instrumented(RECORDS, again, tmp_path) == text
    assert kept[0].read_bytes().startswith(b"\x7fELF")


def test_without_an_answer_a_field_is_concretized(tmp_path: Path) -> None:
    text = instrumented(RECORDS, [], tmp_path, "-funsigned-bitfields")
    assert "sc_tainted" in text


def test_a_volatile_field_is_accessed_once(tmp_path: Path) -> None:
    text = instrumented(
        "struct r { unsigned f : 3; };\n"
        "int get(volatile struct r *p) { return p->f + 1; }\n"
        "int set(volatile struct r *p, int x) { return p->f = x; }\n",
        [],
        tmp_path,
    )
    code = "\n".join(line for line in text.splitlines() if not line.startswith(("  0x5c0e", "//")))
    assert code.count("p->f") == 2
    assert "SC_TOUCH(" not in code.replace("#define SC_TOUCH(", "")


def test_one_record_that_does_not_compile(tmp_path: Path) -> None:
    def measure(source: Path, question: str) -> Mapping[int, bytes]:
        if "struct bad sc_layout" in question:
            raise BuildError("no", "here")
        return Measured(toolchain, {source: ()}, tmp_path)(source, question)

    toolchain = Toolchain(find_board("native"))
    source = Source(
        tmp_path / "file.c",
        "struct bad { int f : 3; }; struct good { int f : 3; };\n"
        "int one(struct bad *p) { return p->f; }\nint two(struct good *p) { return p->f; }\n",
    )
    program = instrument_program(
        [source],
        toolchain.data_model(()),
        instrument=(),
        argument_order="right",
        verify=False,
        strict=True,
        measure=measure,
    )
    assert program.texts[0].count("sc_tainted(") == 1


@pytest.mark.parametrize("board", ["native", "native32", "mps2-an385"])
def test_notes_of_what_stays_concretized(board: str, tmp_path: Path) -> None:
    source = tmp_path / "notes.c"
    source.write_text(
        '#include "score.h"\n'
        "static volatile struct { unsigned f : 3; } v;\n"
        "static struct __attribute__((packed)) { unsigned f : 24; } w;\n"
        "int main(void) { unsigned char x; SYM_U8(x); v.f = x; w.f = x; return w.f == 3 ? v.f : 0; }\n"
    )
    image = build_image(find_board(board), [source], strict=True)
    names = [site.name for site in image.sites.sites.values()]
    assert names.count("bit-field") >= 3
