"""The normal form: what instrumented C looks like, and what is left alone with a reason."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from score_embed.contract.program import Note, Program, Source
from score_embed.frontend.lower.statements import Statements
from score_embed.frontend.lower.unit import Lowered, UnitLowering
from score_embed.frontend.probes import templates
from score_embed.frontend.program import instrument_program
from score_embed.frontend.types.data_model import DataModel
from score_embed.image.toolchain import INSTRUMENTED

RUNTIME = Path(__file__).parents[2] / "runtime"
HEADER = """
void __score_symbolic(void *, unsigned long, const char *);
void __score_assume_fail(void) __attribute__((noreturn));
"""


@pytest.fixture(scope="module")
def model() -> DataModel:
    done = subprocess.run(["gcc", "-dM", "-E", "-x", "c", "/dev/null"], capture_output=True, text=True, check=True)
    return DataModel.from_macros(done.stdout)


def lowered(model: DataModel, *texts: str, order: str = "right") -> Program:
    sources = [Source(Path(f"t{i}.c"), f'# 1 "t{i}.c"\n{HEADER}{text}\n') for i, text in enumerate(texts)]
    return instrument_program(sources, model, instrument=(), argument_order=order, verify=False, strict=True)


def test_a_local_whose_address_is_not_taken_is_never_memory(model: DataModel) -> None:
    text = lowered(model, "int f(int a) { int b = a + 1; return b; }").texts[0]
    assert "sc_any" not in text.split("sc_enter", 1)[1]


def test_an_addressed_local_is_cleared_where_it_is_declared(model: DataModel) -> None:
    text = lowered(model, "void g(int *); int f(void) { int b; g(&b); return b; }").texts[0]
    assert "SC_LOCAL(b);" in text


def test_what_a_pointer_points_to_does_not_make_it_memory(model: DataModel) -> None:
    source = "struct s { int a, b; }; int g(char *, int *); int f(char *p, struct s *q) { return g(&p[1], &q->b); }"
    text = lowered(model, source).texts[0]
    assert "sc_memory_" not in text
    text = lowered(model, source.replace("&p[1]", "(char *) &p")).texts[0]
    assert "sc_memory_p" in text
    assert "sc_memory_q" not in text


def test_the_stack_that_probes_take_does_not_grow_with_their_number(model: DataModel, tmp_path: Path) -> None:
    """Their arguments share it: with one slot for each a recursive parser would end in a stack overflow."""

    def frame(statements: int) -> int:
        body = "n += t[i] > t[j]; j += t[n]; " * statements
        text = lowered(model, f"extern unsigned char t[]; int f(int i, int j) {{ int n = 0; {body} return n + j; }}")
        source = tmp_path / "f.c"
        source.write_text(text.texts[0])
        flags = [*INSTRUMENTED, "-O2", "-w", "-fstack-usage", f"-I{RUNTIME}"]
        command = ["gcc", *flags, "-c", str(source), "-o", str(tmp_path / "f.o")]
        subprocess.run(command, check=True, timeout=60)
        return max(int(line.split("\t")[1]) for line in (tmp_path / "f.su").read_text().splitlines())

    assert frame(40) < frame(5) + 100


def test_an_input_of_score_h_does_not_make_a_variable_memory(model: DataModel) -> None:
    text = lowered(model, 'int f(void) { int x; __score_symbolic(&(x), 4, "x"); return x; }').texts[0]
    assert "sc_sym_slot" in text
    assert "sc_sym_mem" not in text


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            "int f(int n) { int (*p)[n], (**q)[n] = &p; return **q == 0; }",
            "a pointer to a variable length array in memory",
        ),
        ('int f(int x) { __asm__ goto ("nop" : : : : l); l: return x; }', "asm goto"),
        ("int f(int x) { { __label__ l; l: x++; } return x; }", "local labels"),
        ("int f(int n) { struct { char a[n]; int b; } x; return x.b; }", "a variable length array"),
        ("int f(int n) { return sizeof(union { char a[n]; int b; }); }", "a variable length array"),
        ("int f(int *p) { return __builtin_object_size(p, 0); }", "builtin '__builtin_object_size'"),
        ("__attribute__((constructor)) void f(void) { }", "attribute constructor"),
        ("int f(int x) { return _Generic(x, long: 1, char: 2); }", "_Generic without an association that fits"),
        ("void f(void *p) { *p; }", "dereference of a pointer to void"),
        ("int f(void) { int a; " + "".join(f"int x{i} = a;" for i in range(4500)) + " return 0; }", "4095 variables"),
        ("__attribute__((naked)) void f(void) { }", "attribute naked"),
        ("__attribute__((interrupt)) void f(void *p) { }", "attribute interrupt"),
        ("__attribute__((interrupt, naked)) void f(void *p) { }", "attribute naked"),
        ("void f(int) __attribute__((signal)); void f(int p) { }", "attribute signal"),
    ],
)
def test_what_cannot_be_lowered_is_left_alone_and_listed(model: DataModel, code: str, reason: str) -> None:
    program = lowered(model, code)
    assert len(program.notes) == 1
    assert "function 'f' is not instrumented" in program.notes[0].what
    assert reason in program.notes[0].what
    assert "sc_enter" not in program.texts[0]


def test_a_handler_begins_with_a_statement_of_ours_unless_it_is_naked(model: DataModel) -> None:
    texts = {
        "__attribute__((interrupt)) void f(void) { g(); }": 1,
        "__attribute__((interrupt, naked)) void f(void) { g(); }": 0,
        "void SysTick_Handler(void) { g(); }": 1,
        "__attribute__((interrupt)) void f(void *p) { g(); }": 1,
        "void SysTick_Handler(void) { g(); } void f(void) { SysTick_Handler(); }": 0,  # called: a function like others
        "void HAL_UART_IRQHandler(void *handle) { g(); }": 0,  # with parameters, too
        "void f(void) { g(); }": 0,
    }
    for code, count in texts.items():
        assert lowered(model, f"void g(void); {code}").texts[0].count("SC_HANDLER;") == count, code


def test_a_deep_index_has_an_address_of_few_operands(model: DataModel) -> None:
    sums = "".join(f"[{'+'.join(f'v{i}' for i in range(n, n + 11))}]" for n in (0, 11, 22, 33))
    variables = ",".join(f"v{i} = a" for i in range(44))
    body = f'int a; __score_symbolic(&(a), 4, "a"); int {variables}; return m{sums};'
    program = lowered(model, f"int m[2][2][2][2]; int f(void) {{ {body} }}")
    assert not program.notes
    text = program.texts[0]
    table = text.split("sc_table[] = {", 1)[1].split("};", 1)[0].split(",")
    counts = [int(table[int(at) + 7]) for at in re.findall(r"sc_select\(sc_f, (\d+)", text)]  # behind the plain read's
    assert 4 <= max(counts) <= 16


SYMBOLIC = 'int x; __score_symbolic(&(x), 4, "x");'


def test_the_runtime_is_told_of_what_pointers_lead_to(model: DataModel) -> None:
    given = "static char in_list[4]; static char *const list[1] = { in_list };"
    body = f"{SYMBOLIC} char on_stack[4], named[4]; static char fixed[4]; read(on_stack, x); read(fixed, x); return named[x];"
    reader = "static int read(char *p, int i) { return p[i]; }"
    (text,) = lowered(model, f"{given} {reader} int f(void) {{ {body} }}").texts
    assert text.startswith("#define SC_OBJECTS\n")
    assert re.findall(r"SC_LOCAL\((\w+)\)", text) == ["on_stack"]
    assert re.findall(r"SC_STATIC\(\d+, (\w+)\)", text) == ["in_list", "fixed"]
    elsewhere = "static int read(char *p, int i) { return p[2]; }"
    (text,) = lowered(model, f"{given} {elsewhere} int f(void) {{ {body} }}").texts
    assert "SC_OBJECTS" not in text  # no pointer is read at a symbolic address


@pytest.mark.parametrize(
    ("code", "probe"),
    [
        ("int f(void) { int a = 1, b = a + 2; return b; }", ""),  # constants
        (f"int f(void) {{ {SYMBOLIC} int a = x + 1; return a; }}", "sc_assign1"),
        ("int f(int a) { return a + 1; }", ""),  # called by nobody
        (f"static int g(int a) {{ return a; }} int f(void) {{ {SYMBOLIC} return g(x); }}", "sc_result"),
        (f"static int g(int a) {{ return 1; }} int f(void) {{ {SYMBOLIC} return g(x); }}", ""),
        (f"int g(int); int f(void) {{ {SYMBOLIC} return g(x) + 1; }}", "sc_assign1"),  # an opaque result
        ("static int n; int f(void) { n++; return n; }", ""),  # nothing symbolic is ever stored there
        (f"static int n; int f(void) {{ {SYMBOLIC} n = x; return n; }}", "sc_assign1"),
        ("static int n; int *p = &n; int f(void) { return n; }", "sc_assign1"),  # somebody may
        ("static volatile int n; int f(void) { return n; }", "sc_assign1"),
        ('int n; extern int m __attribute__((alias("n"))); int f(void) { return n; }', "sc_assign1"),
        ('int n; extern int m __asm__("n"); int f(void) { return n; }', "sc_assign1"),
        ("int f(unsigned char *p) { return *p; }", "sc_assign1"),  # memory
        (f"static int g(int a) {{ return a; }} int f(int (*q)(int)) {{ {SYMBOLIC} return q(x); }}", "sc_result"),
    ],
)
def test_probes_that_cannot_fire_are_left_out(model: DataModel, code: str, probe: str) -> None:
    text = lowered(model, code).texts[0]
    found = {name for name in ("sc_assign1", "sc_result") if f"{name}(" in text}
    assert probe in found if probe else not found


VARIADIC = """static int g(int n, ...) { __builtin_va_list l; __builtin_va_start(l, n); n = __builtin_va_arg(l, int);
    __builtin_va_end(l); return n; } struct s { int m; };"""


@pytest.mark.parametrize(
    ("arguments", "unpassed"),
    [
        ("1, x, 2.5, x", 0),
        ("1, *p, 2", 1),  # a struct: what lies in it
        ("1, *p, x", 2),  # and what comes behind it
        ("x, 2.5L, x", 1),
        ("1, " + ", ".join(["x"] * 16), 0),
        ("1, " + ", ".join(["x"] * 18), 2),
    ],
)
def test_what_does_not_reach_a_variadic_function_is_reported(model: DataModel, arguments: str, unpassed: int) -> None:
    program = lowered(model, f"{VARIADIC} int f(struct s *p) {{ {SYMBOLIC} return g({arguments}); }}")
    assert not program.notes
    calls = program.texts[0].split("sc_call(", 1)[0].split("sc_sym_slot(sc_f", 1)[1]
    assert calls.count("sc_pin") == unpassed


@pytest.mark.parametrize(
    ("code", "probes"),
    [
        ("int a = x, b = a; if (b > 3) h();", 0),
        ("int a = x + 1; if (a > 3) h(); return a;", 2),  # live after its block: one for a, one for the result
        ("int a = x + 1; x = 3; if (a > 3) h();", 1),  # its operand is gone
        ("int a = x + 1; x++; if (a > 3) h();", 1),
        ("int a = *p; if (a > 3) h();", 0),
        ("int a = *p; *q = 1; if (a > 3) h();", 1),  # may be the same object
        ("int a = *p; h(); if (a > 3) h();", 1),
        ("int a = *p; n = 1; if (a > 3) h();", 0),  # reached by its name only
        ("int a = n; *q = 1; if (a > 3) h();", 0),
        ("int a = n; n = 1; if (a > 3) h();", 1),
        ("y++; if (p[y]) h();", 1),  # an address looks at its slots
        ("volatile unsigned char *v = p; int a = *v; if (a > 3) h();", 1),
        ("int a = x + y; if (a > 3) h();", 0),
        ("int a = x + y, b = a * 2 + a; if (b > a) h();", 1),  # said three times it would cost more
        ("int a = x + y; a = a + a; a = a + a; a = a + a; a = a + a; if (a) h();", 3),  # formulas stay small
        ("int a = 1; a = x; a = 2; if (a) h();", 0),  # never looked at
        ("int a = x; switch (a) { case 1: h(); }", 1),  # a switch looks at its own slot
        ("int a = x; h2(a);", 1),  # and so does a call
        ("int a = h2(1), b = a; if (b) h();", 0),  # a result goes where it is kept
        ("int a = h2(1), b = a; a++; if (b > a) h();", 2),
        ("if (setjmp(buffer)) h(); int a = x, b = a; if (b > 3) h();", 2),  # values come back from later
    ],
)
def test_definitions_that_need_no_probe(model: DataModel, code: str, probes: int) -> None:
    text = lowered(
        model,
        "static int n; typedef long jmp[40]; jmp buffer; int setjmp(jmp); void h(void); int h2(int);"
        "int f(int x, int y, unsigned char *p, unsigned char *q) {" + code + "return 0; }"
        "int (*pointer)(int, int, unsigned char *, unsigned char *) = f;"
        'int main(void) { int i; __score_symbolic(&i, 4, "i"); n = i; return pointer(i, i, &(i), &(i)); }',
    ).texts[0]
    body = text[text.index("sc_enter") : text.index("sc_leave")]
    assert len(re.findall(r"sc_assign\d?\(", body)) == probes + len(re.findall(r"\} n = sc_v|\*q = sc_v", body))


@pytest.mark.parametrize(
    ("code", "pins"),
    [
        ("p->v = 1; p->w = 2; p->v = p->v + 1;", 1),  # members of one object, also within one statement
        ("p->v = p->v + 1;", 1),
        ("p->v = 1; p = p + x; p->w = 2;", 2),
        ("p[x].v = 1; p[x].w = 2;", 1),
        ("p[x].v = 1; x++; p[x].w = 2;", 2),
        ("if (y) p->v = 1; p->w = 2;", 2),  # not on every way
        ("if (y) p->v = 1; else p->w = 1; p->w = 2;", 2),
        ("while (p->v) p->w++;", 1),
        ("p->a = 1; p->b = p->a;", 0),
        ("while (p->a) p++;", 0),
        ("t[n] = 1; t[n] = 2;", 1),
        ("t[n] = 1; n = x; t[n] = 2;", 2),
        ("t[*q] = 1; *q = 1; t[*q] = 2;", 2),
    ],
)
def test_an_address_is_pinned_once(model: DataModel, code: str, pins: int) -> None:
    text = lowered(
        model,
        "struct s { int a, b; volatile int v, w; }; static int n, m; static volatile int t[9];"
        "static void f(struct s *p, int x, int y, int *q) {" + code + "}"
        'int main(void) { long i; __score_symbolic(&i, 8, "i"); n = i; f((struct s *) i, i, i, &m); return 0; }',
    ).texts[0]
    body = text[text.index("sc_enter") : text.index("sc_leave")]
    assert len(re.findall(r"sc_pin\d?\(", body)) == pins


def test_who_may_write_a_variable_depends_on_what_else_is_linked(model: DataModel) -> None:
    source = Source(Path("t.c"), f'# 1 "t.c"\n{HEADER}int n; int f(void) {{ return n; }}\n')
    for closed in (True, False):
        program = instrument_program(
            [source], model, instrument=(), argument_order="right", verify=False, closed=closed, strict=True
        )
        assert ("sc_assign1(" in program.texts[0]) is not closed


def test_a_call_of_a_function_left_alone_is_opaque(model: DataModel) -> None:
    inner = "int g(int n) { { __label__ l; l: n++; } return n; }"
    program = lowered(model, inner + " int f(int x) { return g(x); }")
    assert "sc_opaque" in program.texts[0]
    assert "sc_call(" not in program.texts[0]


def test_a_function_that_cannot_be_printed_is_left_alone(model: DataModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(templates, "MAX_LEAVES", 3)
    wide = "int g(int a, int b, int c, int d) {\nif (a + b == c + d) return 1; return 2; }"
    program = lowered(model, wide, "int g(int, int, int, int); int f(int x) { return g(x, x, x, x); }")
    (note,) = program.notes
    assert note == Note("function 'g' is not instrumented: more than 3 operands in one expression", "t0.c", 4)
    assert "sc_enter" not in program.texts[0]
    assert "sc_opaque(" in program.texts[1]
    assert "sc_call(" not in program.texts[1]


def test_a_failure_repeats_the_units_it_matters_to(model: DataModel, monkeypatch: pytest.MonkeyPatch) -> None:
    done = []
    lower = UnitLowering.lower

    def counted(self: UnitLowering) -> Lowered:
        done.append(self.unit.source)
        return lower(self)

    monkeypatch.setattr(UnitLowering, "lower", counted)
    inner = "int g(int n) { { __label__ l; l: n++; } return n; }"
    lowered(model, inner, "int g(int); int f(int x) { return g(x); }", "int h(int x) { return x + 1; }")
    assert done == ["t0.c", "t1.c", "t2.c", "t0.c", "t1.c"]


def test_static_functions_of_one_name_are_judged_file_by_file(model: DataModel) -> None:
    bad = "static int g(int n) { { __label__ l; l: n++; } return n; } int a(int x) { return g(x); }"
    good = "static int g(int n) { return n + 1; } int b(int x) { return g(x); }"
    for sources in ((bad, good), (good, bad)):
        program = lowered(model, *sources)
        assert ["sc_opaque(" in text for text in program.texts] == [source is bad for source in sources]
        assert ["sc_call(" in text for text in program.texts] == [source is good for source in sources]
        assert len(program.notes) == 1


def test_a_function_of_a_header_is_noted_once(model: DataModel) -> None:
    header = '# 1 "h.h"\nstatic inline int g(int n) { { __label__ l; l: n++; } return n; }\n# 9 "t.c"\n'
    program = lowered(model, header + "int a(int x) { return g(x); }", header + "int b(int x) { return g(x); }")
    assert [(note.file, note.line) for note in program.notes] == [("h.h", 1)]


def test_a_function_of_another_file_is_known_to_be_instrumented(model: DataModel) -> None:
    program = lowered(model, "int g(int n) { return n; }", "int g(int); int f(int x) { return g(x); }")
    assert "sc_call(" in program.texts[1]
    assert "sc_opaque(" not in program.texts[1]


def test_arguments_with_side_effects_follow_the_boards_order(model: DataModel) -> None:
    code = "int a(void); int b(void); void g(int, int); void f(void) { g(a(), b()); }"
    right, left = (lowered(model, code, order=order).texts[0] for order in ("right", "left"))
    assert right.index("= b()") < right.index("= a()")
    assert left.index("= a()") < left.index("= b()")


def test_site_ids_are_unique_over_all_files(model: DataModel) -> None:
    program = lowered(model, "int g(int n) { return n ? 1 : 2; }", "int f(int n) { return n < 3 ? 1 : 2; }")
    ids = [
        int(line.split(",")[1])
        for text in program.texts
        for line in text.splitlines()
        if line.strip().startswith("0x5c0e")
    ]
    assert len(ids) == len(set(ids)) >= 4


@pytest.mark.parametrize(
    ("condition", "marked"),
    [("a < 3", 1), ("!(a < 3)", 1), ("a < 3 && b > 2", 2), ("a < 3 || b > 2", 0), ("!(a < 3 || b > 2)", 2)],
)
def test_assumptions_are_marked_where_one_comparison_decides(model: DataModel, condition: str, marked: int) -> None:
    code = f"void f(int a, int b) {{ do {{ if (!({condition})) __score_assume_fail(); }} while (0); }}"
    text = lowered(model, code).texts[0]
    records = [line.split(",") for line in text.splitlines() if line.strip().startswith("0x5c0e")]
    conds = [r for r in records if r[2].strip() == "2"]
    assert sum(int(r[5]) for r in conds) == marked


def test_a_definition_moves_to_the_top_once_and_after_what_it_needs(model: DataModel) -> None:
    code = (
        "int f(void) { struct { int a; struct { int b; } n; } v, w; enum { A } e = A; v.n.b = e; w = v; return w.n.b; }"
    )
    text = lowered(model, code).texts[0]
    tags = [line.split()[1] for line in text.splitlines() if line.startswith("struct sc_anonymous") and "{" not in line]
    inner, outer = tags[0], tags[1]
    assert text.count(f"struct {inner}\n") == text.count(f"struct {outer}\n") == 1
    assert f"struct {inner} n;" in text
    assert "goto" not in text.replace("goto sc_return;", "")


@pytest.mark.parametrize(
    ("code", "gone", "stays"),
    [
        ("__attribute__((const, noinline)) int f(int x) { return x; }", "const", "noinline"),
        ("int f(int) __attribute__((__pure__)); int f(int x) { return x; }", "__pure__", "__attribute__"),
        ("int (*p)(int) __attribute__((const, unused)); int f(int x) { return p(x); }", "const", "unused"),
        ("inline __attribute__((always_inline)) int f(int x) { return x; }", "always_inline", "weak"),
        ("inline int f(int x) { return x; }", "inline int f", "weak"),
    ],
)
def test_promises_that_probes_break_are_dropped(model: DataModel, code: str, gone: str, stays: str) -> None:
    text = lowered(model, code).texts[0]
    declarations = "\n".join(line for line in text.splitlines() if "int f(" in line or "int (*p)" in line)
    assert gone not in declarations
    assert stays in declarations


def test_a_promise_of_a_system_header_about_a_function_of_the_program_is_dropped(model: DataModel) -> None:
    header = '# 1 "/usr/include/h.h" 1 3\nint twice(int) __attribute__((const)); int abs(int) __attribute__((const));\n'
    code = f'{header}# 2 "t0.c" 2\nint twice(int x) {{ return 2 * abs(x); }}'
    text = lowered(model, code).texts[0]
    assert "int twice(int) __attribute__(());" in text
    assert "int abs(int) __attribute__((const));" in text


def test_a_fault_of_ours_leaves_one_function_uninstrumented(model: DataModel, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Statements, node: object) -> None:
        raise KeyError(128)

    monkeypatch.setattr(Statements, "_while", broken)
    code = "int g(int n) {\n  n++;\n  while (n) n--;\n  return n; }\nint f(int x) { return g(x); }"
    source = Source(Path("t.c"), f'# 1 "t.c"\n{code}\n')
    with pytest.raises(KeyError):
        instrument_program([source], model, instrument=(), argument_order="right", verify=False, strict=True)
    program = instrument_program([source], model, instrument=(), argument_order="right", verify=False)
    assert program.notes == (Note("function 'g' is not instrumented: internal error, KeyError: 128", "t.c", 3),)
    assert "while (n)" in program.texts[0]
    assert "sc_opaque(" in program.texts[0]
    assert "sc_call(" not in program.texts[0]


def test_what_is_defined_among_parameters_is_unknown_outside(model: DataModel) -> None:
    code = "int g(struct p { char c; } *q); struct p { int a, b; } v; int f(void) { return v.b; }"
    program = lowered(model, code)
    assert not program.notes
    assert "v.b" in program.texts[0]
