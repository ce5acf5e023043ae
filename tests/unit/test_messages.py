"""What gcc and QEMU say, as it is read; and names of the program's that begin as ours do."""

from __future__ import annotations

import pytest

from score_embed.device.startup import Seen, by_monitor
from score_embed.frontend.c import own_names
from score_embed.frontend.c.complaints import MOST_ERRORS, complaint, together

GCC = """In file included from inc/a.h:3,
                 from main.c:1:
inc/b.h:2:5: error: conflicting types for 'f'
    2 | int f(long);
      |     ^
inc/a.h:1:5: note: previous declaration of 'f'
main.c: In function 'main':
main.c:7:3: warning: something
main.c:9:12: error: 'sc_own_sc_x' undeclared
"""


def test_errors_notes_and_where_a_header_is_from() -> None:
    error = complaint(GCC, "nowhere")
    assert str(error) == (
        "inc/b.h:2:5: error: conflicting types for 'f'\n"
        "  included from inc/a.h:3\n"
        "  included from main.c:1\n"
        "  inc/a.h:1:5: note: previous declaration of 'f'\n"
        "main.c:9:12: error: 'sc_x' undeclared"
    )
    assert str(together([error, error])).count("error:") == 4


def test_very_many_errors_are_cut() -> None:
    text = "".join(f"a.c:{n}:1: error: bad\n" for n in range(1, 100))
    assert str(complaint(text, "a.c")).splitlines()[-1] == f"a.c: error: and {99 - MOST_ERRORS} more errors"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "failed without a message"),
        ("cc1: out of memory\n", "out of memory"),
        ("ld: memory exhausted\ncollect2: error: ld returned 1 exit status\n", "memory exhausted"),
    ],
)
def test_messages_without_a_place(text: str, what: str) -> None:
    error = complaint(text, "a.c")
    assert error.where == "a.c"
    assert what in error.what


@pytest.mark.parametrize(
    ("text", "emitted"),
    [
        ("int sc_x, x_sc_y, SC_Z;", "int sc_own_sc_x, x_sc_y, sc_own_SC_Z;"),
        ('f("sc_a \\" sc_b", \'"\', sc_c->sc_d);', 'f("sc_a \\" sc_b", \'"\', sc_own_sc_c->sc_own_sc_d);'),
        ('# 1 "sc_file.c"\nsc_t x;', '# 1 "sc_file.c"\nsc_own_sc_t x;'),
        ('__attribute__((alias("sc_f"))) int g(sc_t);', '__attribute__((alias("sc_own_sc_f"))) int g(sc_own_sc_t);'),
        ("int disc_x, _SC_PAGESIZE, sc, scx;", "int disc_x, _SC_PAGESIZE, sc, scx;"),
    ],
)
def test_names_of_the_programs_are_set_apart(text: str, emitted: str) -> None:
    assert own_names.set_apart(text) == emitted
    assert own_names.as_written(emitted) == text


def test_registers_and_the_stack() -> None:
    arm = "R00=00000000 R12=1\r\nR12=00000000 R13=20039bd0 R14=00004873 R15=000047ce\r\nXPSR=81000000\r\n"
    words = "20039bd0: 0x00000000 0x00004873\r\n"
    asked: list[str] = []

    def ask(command: str) -> str:
        asked.append(command)
        return arm if command == "info registers" else words

    assert by_monitor(ask) == Seen(0x47CE, (0x4872, 0, 0x4872))
    assert asked[1].endswith("0x20039bd0")
    risc = " pc       800001f4\n x0/zero  00000000 x1/ra    8000012e x2/sp    80420fe0 x3/gp  0\n"
    assert by_monitor(lambda command: risc if command == "info registers" else "") == Seen(0x800001F4, (0x8000012E,))
    assert by_monitor(lambda command: "PC:    000100\n") is None
