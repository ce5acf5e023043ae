"""Harnesses: which number counts what, which pointers may be null, how inputs are shown; without a compiler."""

from __future__ import annotations

import pytest
from pycparser import c_ast

from score_embed.contract.entry import Array
from score_embed.frontend.c.parse import parse
from score_embed.frontend.c.printer import to_c
from score_embed.frontend.harness import names, preconditions, uses
from score_embed.frontend.harness.followed import Followed, compared_with_null, freed
from score_embed.frontend.harness.names import Field
from score_embed.frontend.harness.predicates import Predicates
from score_embed.results.shown import foremost, readable, rests_on
from score_embed.results.testcase import Value, quoted, raw_bytes


def fields(words: str) -> list[Field]:
    """`*p` is a pointer, `**p` one to pointers that is subscripted, `p[]` an array, `->p` a pointer to one object,
    `=>p` one that is only handed on, all others are numbers."""
    found = []
    for word in words.split():
        name = word.strip("*[]").removeprefix("->")
        if word.startswith("->"):
            found.append(Field(name, "struct s", single=True))
        elif word.startswith("=>"):
            found.append(Field(name.removeprefix("=>"), "struct s", handed=True))
        else:
            pointer = "*" in word or "[]" in word
            parallel = word.startswith("**")
            found.append(Field(name, "char" if pointer else "", not pointer, "[]" in word, parallel=parallel))
    return found


@pytest.mark.parametrize(
    ("words", "counts"),
    [
        ("*buf len", {"buf": "len"}),
        ("*a *b n", {"a": "n", "b": "n"}),
        ("argc *argv", {"argv": "argc"}),
        ("n *items", {"items": "n"}),
        ("*out out_len *in in_len", {"out": "out_len", "in": "in_len"}),
        ("*out in_size *in out_size", {"out": "out_size", "in": "in_size"}),
        ("*p flags", {}),
        ("*p x", {}),
        ("->ctx *data size", {"data": "size"}),
        ("*key keyLen", {"key": "keyLen"}),
    ],
)
def test_counts_of_parameters(words: str, counts: dict[str, str]) -> None:
    assert names.of_parameters(fields(words)).of == counts


@pytest.mark.parametrize(
    ("words", "counts", "most"),
    [
        ("*items count capacity", {"items": "capacity"}, [("count", "capacity")]),
        ("*items size capacity", {"items": "capacity"}, [("size", "capacity")]),
        ("items[] size capacity", {"items": "capacity"}, [("size", "capacity")]),
        ("*data len size", {"data": "size"}, [("len", "size")]),
        ("*data len", {"data": "len"}, []),
        ("->alloc current_size length item_size *data", {"data": "current_size"}, [("length", "current_size")]),
        ("buf[] used", {"buf": "used"}, []),
        ("*keys nkeys *values nvalues", {"keys": "nkeys", "values": "nvalues"}, []),
        ("=>alloc size *data used", {"data": "size"}, [("used", "size")]),
        ("=>nodes count", {"nodes": "count"}, []),
        ("x y", {}, []),
        ("**keys **values len", {"keys": "len", "values": "len"}, []),
        ("**keys *values len", {"values": "len", "keys": "len"}, []),
        ("**keys nkeys **values nvalues **other", {"keys": "nkeys", "values": "nvalues"}, []),
        ("*name id", {}, []),
    ],
)
def test_counts_of_members(words: str, counts: dict[str, str], most: list[tuple[str, str]]) -> None:
    found = names.of_members(fields(words))
    assert (found.of, found.most) == (counts, most)


@pytest.mark.parametrize(
    ("words", "weak"),
    [("*version stream_size", {"version"}), ("*data data_size", set()), ("*in total_in", set()), ("*b n", set())],
)
def test_a_count_that_is_named_after_something_else_is_weak(words: str, weak: set[str]) -> None:
    assert names.of_parameters(fields(words)).weak == weak


USES = """
struct s { struct s *owner, *same, *row, *given, *set; int n; };
int take(struct s *);
int f(struct s *p, struct s *q)
{
    if (p->owner == q || p->same != 0 || p->n == 3) return p->owner->n;
    p->set = q;
    return p->row[2].n + take(p->row) + take(p->given);
}
"""


def test_what_the_file_does_with_members() -> None:
    tree = parse(USES, "p.c")
    assert uses.members_compared(tree) == {"owner"}
    moved, passed = uses.members_moved(tree)
    assert (moved & {"row", "given"}, passed) == ({"row"}, {"row", "given"})
    assert not moved & {"owner", "same", "set"}


CODE = """
struct n { struct n *next; int *value; struct n *other; };
static int looks(int *p) { return p ? *p : 0; }
int f(int *a, int *b, int *c, int *d, struct n *e)
{
    int *copy = c;
    if (!a) return 1;
    if (copy == 0) return 2;
    looks(d);
    for (; e; e = e->next) if (*b) return 3;
    return e->other->value != 0;
}
"""


PROMISED = """
void __assert_fail(const char *, const char *, unsigned, const char *);
struct n { struct n *next, *last; };
static void asserts(struct n *a) { (a != 0) ? (void) 0 : __assert_fail("a", "p.c", 1, "f"); }
static void either(struct n *a) { if (a == 0 || a->next != 0) ; else __assert_fail("", "p.c", 1, "f"); }
static void stops(struct n *a) { if (!a->last) __assert_fail("", "p.c", 1, "f"); }
void f(struct n *a, struct n *b, struct n *c) { asserts(a); either(b); stops(c); }
"""


def test_what_is_asserted_not_to_be_null_is_never_null() -> None:
    nulls = Followed(parse(PROMISED, "p.c"), compared_with_null)
    assert {name for name in "abc" if nulls.argument("f", name)} == {"b"}
    assert {name for name in ("next", "last") if nulls.member(name)} == {"next"}


FREES = """
void free(void *);
void *realloc(void *, unsigned long);
struct n { void *data, *other; };
static void back(void *p) { free(p); }
void f(void *a, void *b, void *c, struct n *n) { void *copy = a; back(copy); b = realloc(b, 3); free(n->data); }
"""


def test_what_is_freed_by_way_of_others_is_a_block_of_the_heap() -> None:
    found = Followed(parse(FREES, "p.c"), freed)
    assert {name for name in "abcn" if found.argument("f", name)} == {"a", "b"}
    assert {name for name in ("data", "other") if found.member(name)} == {"data"}


MEMBERS = """
struct hooks { void *(*realloc)(void *, unsigned long); void (*free)(void *); int other; };
void free(void *);
static int called(void) { return 1; }
static int taken(void) { return 2; }
static int other(void) { return 3; }
struct hooks table = { .free = free };
int (*kept)(void) = taken;
int f(struct hooks *h) { return h->realloc == 0 && h->other ? called() : 0; }
"""


def test_a_member_is_no_function_of_that_name() -> None:
    tree = parse(MEMBERS, "p.c")
    assert uses.functions_as_values(tree) & {"realloc", "free", "called", "taken", "other"} == {"free", "taken"}
    assert set(uses.names_used(tree, "f")) == {"h", "called"}


TAKEN = """
struct context { int depth; };
struct other;
int pop(struct context *);
static int walks(void *p) { struct context *c = p; return c->depth; }
int by_call(void *p) { return pop(p); }
int by_way(void *p) { return walks(p); }
int by_another(void *p, void *q) { return walks(q); }
int member(struct owner { void *held; } *o) { return pop(o->held); }
"""


@pytest.mark.parametrize(("function", "found"), [("by_call", 1), ("by_way", 2), ("by_another", 0)])
def test_a_pointer_is_to_what_it_is_passed_on_for(function: str, found: int) -> None:
    """And in what gets it, to what it is assigned to there; `walks` itself takes it for nothing."""
    tree = parse(TAKEN, "p.c")
    (node,) = (ext for ext in tree.ext if isinstance(ext, c_ast.FuncDef) and ext.decl.name == function)
    types = [to_c(one) for one in uses.seen_as(tree, node, "p")]
    assert len([one for one in types if "context" in one]) == min(found, 1)
    assert len(types) == found
    assert [to_c(one) for one in uses.members_cast(tree)["held"]] == ["struct context *"]


def test_what_is_compared_with_null_may_be_null() -> None:
    nulls = Followed(parse(CODE, "p.c"), compared_with_null)
    assert {name for name in "abcde" if nulls.argument("f", name)} == set("acde")
    assert {name for name in ("next", "value", "other") if nulls.member(name)} == {"next", "value"}


ASSERTED = """
typedef unsigned long size_t;
void __assert_fail(const char *, const char *, unsigned, const char *);
int f(int *p, int *q, int n, int *r) __attribute__((nonnull(2), access(read_only, 1, 3)));
int f(int *p, int *q, int n, int *r)
{
    int i;
    (void) q;
    ((void) sizeof ((n > 2) ? 1 : 0), __extension__ ({ if (n > 2) ; else __assert_fail("n > 2", "p.c", 7, "f"); }));
    ((r != (void *) 0) ? (void) 0 : __assert_fail("r", "p.c", 8, "f"));
    if (!(p && n < 9)) { for (;;) { } }
    i = n;
    if (i == 3) __assert_fail("of a variable", "p.c", 11, "f");
    if (n == 5) __assert_fail("behind a computation", "p.c", 12, "f");
    *q = n;
    if (n == 6) __assert_fail("behind a store", "p.c", 14, "f");
    return *p + *q + *r + i;
}
"""


def test_assertions_and_attributes_are_preconditions() -> None:
    tree = parse(ASSERTED, "p.c")
    function = next(ext for ext in tree.ext if isinstance(ext, c_ast.FuncDef))
    said = preconditions.said_of(tree, function, ["p", "q", "n", "r"], Predicates(lambda name: None).only_looks)
    assert said.not_null == {"p", "q", "r"}
    assert said.counts == {"p": "n"}
    assert [uses.text_of(condition, {"n": "count"}) for condition, _ in said.assumed] == [
        "count > 2",
        "count < 9",
        "!(((int) count) == 3)",
        "!(count == 5)",
        "!(count == 6)",  # what it was given, whatever was stored meanwhile
    ]


BY_A_VARIABLE = """
typedef unsigned long size_t;
void __assert_fail(const char *, const char *, unsigned, const char *);
void *memset(void *, int, size_t);
static int error, count;
static int raised(int e) { error = e; return -1; }
static int mul_checked(size_t a, size_t b, size_t *r) { if (__builtin_mul_overflow(a, b, r)) return raised(1); return 0; }
struct s { size_t size; };
int f(struct s *s, size_t n, size_t item, int limit)
{
    size_t size = 0;
    int old = count++;
    int fits = !mul_checked(n, item, &size);
    if (!fits) __assert_fail("fits", "p.c", 1, "f");
    if (!(size < 9)) __assert_fail("a call has written it", "p.c", 1, "f");
    if (!(old == limit)) __assert_fail("of what has been changed", "p.c", 1, "f");
    if (!(s->size > 1)) __assert_fail("early", "p.c", 1, "f");
    do { memset(s, 0, sizeof *s); } while (0);
    s->size = n;
    if (!(s->size == n)) __assert_fail("of what was stored", "p.c", 1, "f");
    if (!(n > count)) __assert_fail("of a variable that may have been", "p.c", 1, "f");
    limit = 3;
    if (!(limit < 4)) __assert_fail("of a parameter that was", "p.c", 1, "f");
    return 0;
}
int g(size_t n, int limit)
{
    unsigned char half = n / 2;
    if (!(half < limit)) __assert_fail("half", "p.c", 1, "g");
    if (limit) return 1;
    if (!(n > 7)) __assert_fail("behind a branch", "p.c", 1, "g");
    return 0;
}
"""


def test_a_variable_stands_for_what_it_was_made_of() -> None:
    tree = parse(BY_A_VARIABLE, "p.c")
    defined = {ext.decl.name: ext for ext in tree.ext if isinstance(ext, c_ast.FuncDef)}
    found = {}
    for name in ("f", "g"):
        names_ = [param.name for param in uses.parameters_of(defined[name])]
        said = preconditions.said_of(tree, defined[name], names_, Predicates(defined.get).only_looks)
        found[name] = [uses.text_of(condition, {}) for condition, _ in said.assumed]
    assert found == {
        "f": ["!mul_checked(n, item, &((size_t){0}))", "s->size > 1"],
        "g": ["((unsigned char) (n / 2)) < limit"],
    }


THROUGH = """
struct s { struct s *next; int n; };
void __assert_fail(const char *, const char *, unsigned, const char *);
int f(struct s *p, struct s *q, struct s *r, int *a, int *b)
{
    if (!(p->next->n > 2 || q->n)) __assert_fail("", "p.c", 7, "f");
    if (!(sizeof(*q) > 2 && !(&(*a))[0] && (r ? r->n : *b))) __assert_fail("", "p.c", 8, "f");
    return p->n;
}
"""


def test_who_asserts_something_of_what_a_pointer_leads_to_says_that_it_leads_there() -> None:
    tree = parse(THROUGH, "p.c")
    function = next(ext for ext in tree.ext if isinstance(ext, c_ast.FuncDef))
    said = preconditions.said_of(tree, function, ["p", "q", "r", "a", "b"], Predicates(lambda name: None).only_looks)
    assert said.not_null == {"p", "a"}


WRAPPED = """
struct s { struct s *to; int n, from; };
void __assert_fail(const char *, const char *, unsigned, const char *);
int limit, before(struct s *), is_valid(const struct s *);
static int inner(struct s *to, struct s *from, int n)
{
    if (!(to && to->from < n && from->n < limit && to->n < from->n)) __assert_fail("", "p.c", 7, "inner");
    return n;
}
static int middle(struct s *q, struct s *a) { int own = 3; if (__builtin_expect(!inner(q, a, own), 0)) return 1; return 0; }
int f(struct s *to, struct s *p) { if (!p) __assert_fail("", "p.c", 8, "f"); return (int) middle(to, p); }
int late(struct s *p) { before(p); return middle(p, p); }
int other(struct s *p, int limit) { int done = inner(p, p, limit); return done; }
"""


def test_a_function_that_begins_with_a_call_has_the_other_ones_preconditions() -> None:
    tree = parse(WRAPPED, "p.c")
    found = {}
    for name, names_ in (("f", ["to", "p"]), ("late", ["p"]), ("other", ["p", "limit"])):
        function = next(ext for ext in tree.ext if isinstance(ext, c_ast.FuncDef) and ext.decl.name == name)
        said = preconditions.said_of(tree, function, names_, Predicates(lambda name: None).only_looks)
        found[name] = (said.not_null, [uses.text_of(condition, {}) for condition, _ in said.assumed])
    assert found == {
        "f": ({"to", "p"}, ["p->n < limit", "to->n < p->n"]),  # of `n` nothing is known: `own` is no parameter
        "late": (set(), []),
        "other": ({"p"}, ["p->from < limit", "p->n < p->n"]),  # another `limit` than inner's
    }


PREDICATES = """
static int calls;
static int within(const int *p, int n) { int i, sum = 0; for (i = 0; i < n; i++) sum += p[i]; return sum < 100; }
static int valid(const int *p, int n) { return p && within(p, n); }
static int counted(const int *p) { calls++; return p != 0; }
static int marked(int *p) { *p = 1; return 1; }
static int twice(const int *p) { return counted(p) || counted(p); }
static int (*check)(const int *);
static int list_is_valid(const int *p) { return counted(p); }
static int listIsValid(const int *p, int n) { return counted(p) && n; }
static int is_marked(int *p) { return marked(p); }
static int is_ready(void) { return ++calls > 1; }
int f(void)
{
    list_is_valid(0); listIsValid(0, 1); is_marked(0); is_ready();
    valid(0, 1); within(0, 2); counted(0); marked(0); twice(0); check(0); elsewhere(0);
    return 0;
}
"""


def test_calls_that_only_look_may_be_made_before() -> None:
    tree = parse(PREDICATES, "p.c")
    defined = {ext.decl.name: ext for ext in tree.ext if isinstance(ext, c_ast.FuncDef)}
    looks = Predicates(defined.get).only_looks
    calls = [node for node in defined["f"].body.block_items if isinstance(node, c_ast.FuncCall)]
    assert [call.name.name for call in calls if looks(call)] == ["list_is_valid", "listIsValid", "valid", "within"]


def test_inputs_are_shown_as_what_pointers_lead_to() -> None:
    inputs: dict[str, Value] = {
        "n->v": 3,
        "n->next->v": 7,
        "n->next != NULL": 0,
        "n != NULL": 1,
        "s": '"a"',
        "s != NULL": 0,
        "f: 0 f_stub, 1 twice": 1,
        "f()": -7,
    }
    assert readable(inputs) == {"n->v": 3, "n->next": "NULL", "s": "NULL", "f": "twice", "f()": -7}
    assert rests_on(inputs) == ["n->next may be NULL", "s may be NULL", "f() may be -7"]
    assert rests_on(inputs, ("s != NULL", "n->v", "n->next != NULL")) == ["s may be NULL", "n->next may be NULL"]
    assert rests_on(inputs, ()) == []
    assert rests_on({"p: 0 null, 1 fresh, 2 q": 0}) == ["p may be NULL"]
    assert rests_on({"p: 0 null, 1 fresh, 2 q": 2}) == []
    assert rests_on({"p->next: 0 its own, 1 as p, 2 null": 1}) == ["p->next may be p"]
    assert rests_on({"p->next: 0 its own, 1 as p, 2 null": 0}) == []
    assert rests_on({"a->get() != NULL": 1, "a->get() != NULL#2": 0}) == ["a->get()#2 may be NULL"]
    assert readable({"x": 1, "q != NULL": 1}) == {"x": 1, "q": "not NULL"}


NOTHING: dict[str, Value] = {"a": 0, "b": "NULL", "c": '""', "d": "0000", "e": "{0, 0}", "f": 0.0}


def test_of_many_inputs_those_come_first_that_are_something() -> None:
    told: dict[str, Value] = {"x": 3, "y": "NULLX", "z": "{0, 1}"}
    assert foremost(NOTHING | told, 3) == told
    assert list(foremost(NOTHING | told, 4)) == ["a", "x", "y", "z"]  # in their order
    assert list(foremost(NOTHING | told, 2, {"c"})) == ["c", "x"]
    assert foremost(told, 5) == told


@pytest.mark.parametrize("text", [b"reboot", b'a"\\\n\x01\xff', b""])
def test_texts_are_written_as_c_writes_them(text: bytes) -> None:
    shown = quoted(text + b"\0rest")
    assert raw_bytes(shown) == text + b"\0"
    assert shown.isascii()
    assert shown[0] == shown[-1] == chr(34)


@pytest.mark.parametrize("value", ['"', '"abc', "0g", '"\\x"'])
def test_what_is_no_text_and_no_bytes(value: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of any kind
        raw_bytes(value)


ARRAYS = (
    Array("buf", "len", 1, "raw"),
    Array("a", "n", 2, "signed"),
    Array("e", "k", 0, "raw"),
    Array("e[0].tag", "", 1, "char"),
    Array("e[1].tag", "", 1, "char"),
    Array("name", "", 1, "char"),
    Array("f", "", 4, "float"),
)


@pytest.mark.parametrize(
    ("inputs", "shown"),
    [
        ({"len": 2, "buf": "0102030405"}, {"len": 2, "buf": "0102"}),
        ({"len": 0, "buf": "0102"}, {"len": 0, "buf": "{}"}),
        ({"len": 7, "buf": "0102"}, {"len": 7, "buf": "0102"}),
        ({"buf": "0102"}, {"buf": "0102"}),
        ({"n": 2, "a": "ffff01000200"}, {"n": 2, "a": "{-1, 1}"}),
        ({"n": 0, "a": "ffff"}, {"n": 0, "a": "{}"}),
        ({"k": 1, "e[0].x": 3, "e[1].x": 4, "e[1].p->y": 4, "e[1].p != NULL": 0}, {"k": 1, "e[0].x": 3}),
        ({"k": 1, "e[0].tag": "6100", "e[1].tag": "6100"}, {"k": 1, "e[0].tag": '"a"'}),
        ({"name": "616200"}, {"name": '"ab"'}),
        ({"name": "610062"}, {"name": "610062"}),
        ({"name": "000000"}, {"name": '""'}),
        ({"name": "e90000"}, {"name": "e90000"}),
        ({"f": "0000c03f"}, {"f": "{1.5}"}),
    ],
)
def test_arrays_are_shown_up_to_their_count(inputs: dict[str, Value], shown: dict[str, Value]) -> None:
    assert readable(inputs, ARRAYS) == shown
