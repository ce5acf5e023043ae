"""Bounds through pointers: what runs out of an object is found where it is, and what is right stays silent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from runner import explore

BOARDS = ["native", "native32", "mps2-an385", "riscv32-virt", "arduino-mega2560", "stm32vldiscovery"]
INCLUDES = '#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n#include "score.h"\n'

OVERRUNS = """
static uint8_t rx[8], secret[8];
static uint8_t a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, c[4];
static const uint8_t table[3] = {1, 2, 3};
struct message { char name[6]; char role; int x; } m;
struct cursor { const uint8_t *p, *end; };
static struct cursor cursor;
static int word;

static void copy(uint8_t *d, const uint8_t *s, unsigned n)
{
    unsigned i;
    for (i = 0; i < n; i++) d[i] = s[i]; /* out-of-bounds: a loop */
}
static int take(const char *s, unsigned n)
{
    char name[6];
    memcpy(name, s, n); /* out-of-bounds: on the stack */
    return name[0];
}
static int find(const uint8_t *p)
{
    int n = 0;
    while (*p++ != 'x') n++; /* out-of-bounds: a caller's array */
    return n;
}
static const uint8_t *skip(const uint8_t *p, uint8_t n) { while (n--) p++; return p; }
static int first(const uint8_t *p) { return *p; /* out-of-bounds: one past */ }
static int next(struct cursor *k) { return *k->p++; /* out-of-bounds: a cursor in a struct */ }
static void move(const uint8_t **pp) { ++*pp; }
static int second(const int *p) { return p[1]; /* out-of-bounds: of a scalar */ }
static int pick(const uint8_t *t, unsigned i) { return t[i]; /* out-of-bounds: of constants */ }
static int behind(const uint8_t *t, unsigned i) { return t[i]; /* out-of-bounds: of a variable length */ }
static int unnamed(const uint8_t *t, unsigned i) { return t[i]; /* out-of-bounds: of a compound literal */ }
static int taken(const uint8_t *t, unsigned i) { return t[i]; /* out-of-bounds: of alloca */ }
static int vary(unsigned n) { uint8_t v[n]; memset(v, 1, n); return behind(v, n - 1) + behind(v, n); }

int main(void)
{
    uint8_t in[12], what, n, i;
    int s = 0;
    const uint8_t *q;
    SYM_U8(what);
    SYM_BYTES(in, sizeof in);
    in[11] = 0;
    n = in[0] & 15;
    switch (what) {
    case 1: copy(rx, in + 2, n < 10 ? n : 9); return secret[0];
    case 2: return take((char *)in + 2, n);
    case 3: strcpy(m.name, (char *)in + 1); /* out-of-bounds: of a member */ return 2;
    case 4: return find(b);
    case 5: memcpy(m.name, in, n); /* out-of-bounds: of a member, so many bytes */ return 3;
    case 6: cursor.p = a; cursor.end = a + 4; for (i = 0; i < (n & 7); i++) s += next(&cursor); return s;
    case 7: return first(b + (n & 7));
    case 8: q = skip(a, n); return *q; /* out-of-bounds: a result */
    case 9: q = b; for (i = 0; i < n; i++) move(&q); return *q; /* out-of-bounds: moved behind a pointer */
    case 10: cursor.end = b + 4; return n == 3 ? cursor.end[-5] : 1; /* out-of-bounds: before it */
    case 11: return second(&word);
    case 12: return pick(table, n);
    case 13: return *(c + n); /* out-of-bounds: array arithmetic */
    case 14: { uint8_t k[3] = {0}; uint8_t *p = k + n; p -= 2; return *p; /* out-of-bounds: where it ends up */ }
    case 15: memset(in + 4, 0, n); /* out-of-bounds: from the middle */ return in[5];
    case 16: strncpy(m.name, (char *)in, 8); return m.role; /* of constant size: across members */
    case 17: if (n == 1) strncpy((char *)rx, (char *)in, 9); /* out-of-bounds: pads */ return 1;
    case 18: return memcmp(a, in, n); /* out-of-bounds: compares */
    case 99: return *(b - (n & 3)); /* out-of-bounds: below an array, in its neighbour */
    case 19: return vary(3);
    case 20: { const uint8_t *t = (const uint8_t[]){1, 2, n}; return unnamed(t, n); }
    case 21: { uint8_t *t = __builtin_alloca(n + 1u); memset(t, 1, n + 1u); return taken(t, 2) + taken(t, 0); }
    }
    return 0;
}
"""


# Texts have no names: the compiler makes one object of all in a file that are the same, the linker puts one into
# another's end.
LITERALS = """
static const char *const names[] = {"zero", "on", "deux"};
static const char *mutable_name = "field";
struct entry { const char *key; int n; char fixed[4]; } static const entries[] = {{"key", 1, "abc"}, {"other", 2, "def"}};
static const char *const *nested[] = {(const char *const[]){"in", "ner"}};
static int pick(const char *t, unsigned i) { return t[i]; /* out-of-bounds: an argument */ }
static int length(const char *s) { int n = 0; while (*s++ != '!') n++; /* out-of-bounds: a walk */ return n; }
static int same(const uint8_t *s)
{
    const char *p;
    for (p = "key="; *p == *s; p++, s++) {} /* out-of-bounds: a prefix */
    return *p;
}
int main(void)
{
    uint8_t in[6], what, n;
    const char *p = "abc";
    SYM_U8(what);
    SYM_U8(n);
    SYM_BYTES(in, sizeof in);
    (void)pick("suffix", 0); (void)pick("fix", 0);
    switch (what) {
    case 1: return p[n]; /* out-of-bounds: a symbolic index */
    case 2: return "0123456789abcdef"[n & 31]; /* out-of-bounds: a subscript */
    case 3: return same(in);
    case 4: return pick("hex", n & 7);
    case 5: return length("walked");
    case 6: return names[1][n]; /* out-of-bounds: a table */
    case 7: return mutable_name[n]; /* out-of-bounds: a variable */
    case 8: return entries[1].key[n]; /* out-of-bounds: a member */
    case 9: return ("arith" + 1)[n]; /* out-of-bounds: arithmetic */
    case 10: return *("arith" + n); /* out-of-bounds: arithmetic twice */
    case 11: return memcmp(in, "GET ", n & 7); /* out-of-bounds: compared, both have too few */
    case 12: { static const char *t = "local"; return t[n]; } /* out-of-bounds: a static */
    case 13: { const char *t[] = {"loc", "al"}; return t[1][n]; } /* out-of-bounds: a local table */
    case 14: return nested[0][1][n]; /* out-of-bounds: of a compound literal */
    case 15: { const __WCHAR_TYPE__ *w = L"wide"; return w[n]; } /* out-of-bounds: wide */
    case 16: { const char *f = __func__; return f[n]; } /* out-of-bounds: the function's name */
    case 17: return names[n % 3][in[0]]; /* out-of-bounds: both symbolic */
    case 18: return p[-(n & 1)]; /* out-of-bounds: before it */
    case 19: p = n & 1 ? "abc" : "de"; return p[in[0]]; /* out-of-bounds: one of two */
    case 20: return strchr("nope", 'p')[n]; /* out-of-bounds: a result */
    case 21: return ""[n & 1]; /* out-of-bounds: in the end of another one */
    case 22: return "a\\0b"[n & 7]; /* out-of-bounds: with a zero in it */
    }
    return 0;
}
"""

BELOW = """
/* One of two ends where the other begins, or none does: then that is found anyway. */
static struct pair { int a, b; } one, two;
static struct pair *keep[2] = {&one, &two};
int main(void)
{
    uint8_t what, n;
    SYM_U8(what); SYM_U8(n);
    SCORE_ASSUME(n < 2);
    one.a = keep[n] != 0;
    switch (what) {
    case 1: return (&one - n)->b; /* out-of-bounds: a scalar, below */
    case 2: return (&two - n)->b; /* out-of-bounds: a scalar, below, too */
    case 3: return (&one)[-n].a; /* out-of-bounds: a scalar, below */
    case 4: return (&two)[-n].a; /* out-of-bounds: a scalar, below, too */
    case 5: return *(&one.a - 1 - n); /* out-of-bounds: a member */
    case 6: return *(&two.a - 1 - n); /* out-of-bounds: a member */
    case 7: return (*(&one - n)).b; /* out-of-bounds: a scalar, below */
    case 8: return (*(&two - n)).b; /* out-of-bounds: a scalar, below */
    }
    return 0;
}
"""

# The neighbours are adjacent, and listed: a pointer to the first byte of one may be one past the one before it.
DOWN = """
static uint8_t one[4], two[4], three[4];
static char text[4], other[4], third[4];
static int put(uint8_t *p, int i) { p[i] = 1; /* out-of-bounds: below an argument */ return 0; }
static int pass(uint8_t *p, int i) { uint8_t *q = p; return put(q, i); }
static int get(const uint8_t *p, int i) { return p[i]; /* out-of-bounds: below what was passed on */ }
static int peek(const uint8_t *p, int i) { return p[i]; /* out-of-bounds: below a variable's argument */ }
static int last(const uint8_t *p, unsigned n) { return get(p, (int)n - 1); }
static void trim(char *s) { char *e = s + strlen(s) - 1; while (*e == ' ') *e-- = 0; /* out-of-bounds: an empty text */ }
static int fine(const uint8_t *p, int i) { return p[i]; }
static int (*volatile call)(const uint8_t *, int) = fine;
int main(void)
{
    uint8_t what, n;
    const uint8_t *p = n == 77 ? one : two, *q;
    SYM_U8(what); SYM_U8(n);
    SCORE_ASSUME(n < 2);
    one[0] = two[0] = three[0] = n; text[0] = other[0] = third[0] = ' ';
    q = three;
    call(one + 4, -1); call(two + 4, -1); call(three + 4, -1); fine(one + 4, -1); fine(two + 4, -1 - n); fine(three + 4, -4); fine(one, 3); fine(two, 0);
    switch (what) {
    case 1: return pass(two, -n);
    case 2: return last(two, n);
    case 3: trim(other); return 1;
    case 4: p = two; return p[-n]; /* out-of-bounds: below a copy */
    case 5: q = two; return peek(q, -n);
    }
    return q[0] + p[0];
}
"""


PROGRAMS = {"overruns": OVERRUNS, "literals": LITERALS, "below": BELOW, "down": DOWN}


def expected(text: str) -> set[tuple[str, int]]:
    """What the comments of the text say: verdict and line."""
    return {("out-of-bounds", n) for n, line in enumerate(text.splitlines(), 1) if "/* out-of-bounds" in line}


def found(summary: dict[str, Any]) -> set[tuple[str, int]]:
    assert all(bug["confirmed"] and bug["function"] for bug in summary["bugs"])
    return {(bug["kind"], bug["line"]) for bug in summary["bugs"]}


@pytest.mark.parametrize(
    ("board", "program"),
    [
        *((board, "overruns") for board in BOARDS),
        *((board, "literals") for board in ("native", "mps2-an385", "arduino-mega2560")),
        *((board, program) for board in ("native", "mps2-an385") for program in ("below", "down")),
    ],
)
def test_each_overrun_is_found_once_on_the_users_line(board: str, program: str, tmp_path: Path) -> None:
    text = INCLUDES + PROGRAMS[program]
    summary = explore(tmp_path, {"a.c": text}, "--board", board).summary
    assert found(summary) == expected(text)
    assert len(summary["bugs"]) == len(expected(text)), "one bug, not two"
    assert {bug["file"] for bug in summary["bugs"]} == {"a.c"}
    assert summary["stopped"] == "exhausted"


NATIVE = """
#include <stddef.h>
void *memcpy(void *d, const void *s, size_t n) { char *t = d; const char *f = s; while (n--) *t++ = *f++; return d; }
char *strcpy(char *d, const char *s) { char *t = d; while ((*t++ = *s++)) {} return d; }
char *strcat(char *d, const char *s) { char *t = d; while (*t) t++; strcpy(t, s); return d; }
char *hidden(void) { static char own[4]; return own; }
"""
CALLS = """
#include <stddef.h>
#include "score.h"
void *memcpy(void *d, const void *s, size_t n);
char *strcpy(char *d, const char *s);
char *strcat(char *d, const char *s);
char *hidden(void);
static char small[4], behind[8];
int main(void)
{
    unsigned char n;
    SYM_U8(n);
    if (n < 9) memcpy(small, "12345678", n); /* out-of-bounds: so many bytes */
    if (n == 20) strcpy(small, "four"); /* out-of-bounds: a text */
    if (n == 21) { strcpy(small, "ab"); strcat(small, "c"); }
    if (n == 22) { strcpy(small, "ab"); strcat(small, "cd"); /* out-of-bounds: a text behind another */ }
    return behind[0] + hidden()[n & 3];
}
"""


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
def test_code_without_probes_is_checked_by_its_arguments(board: str, tmp_path: Path) -> None:
    files = {"a.c": CALLS, "own.c": NATIVE}
    summary = explore(tmp_path, files, "--board", board, native=("own.c",), cflags=("-fno-builtin",)).summary
    assert found(summary) == expected(CALLS)
    assert summary["unchecked"] > 0, "what code without probes declares has no bounds"


RIGHT = """
#define container_of(p, t, m) ((t *)((char *)(p) - offsetof(t, m)))
struct link { struct link *next; };
struct item { int value; struct link link; uint8_t tail[1]; };
struct flexible { uint8_t n; uint8_t data[]; };
struct pair { uint8_t head[2]; uint8_t body[6]; uint8_t more[4]; };
struct view { const uint8_t *p, *end; };
union both { uint8_t raw[4]; uint32_t word; };
static uint8_t before[4], grid[3][4], behind[4];
static uint8_t pool[64] __attribute__((aligned(8)));
static unsigned used;
static struct item items[3];
static struct flexible fixed = {3, {1, 2, 3}};
static struct pair pair;
static union both both;
static const char *const names[] = {"no", "yes", "perhaps"};
static const uint8_t *const ends[] = {before + 4, behind + 4};
static const char *const suffixes[] = {"perhaps", "haps", "", "a\\0b"}, *words = "k1\\0k2\\0", *cursor = "x=1;yy=22;";
struct piece { const char *at; unsigned n; };

static int walk(const char *s) { int n = 0; while (*s++) n++; return n + (s[-1] == 0); }
static int back(const char *s, const char *e) { int n = 0; while (e > s && *--e) n++; return n; }
static struct piece piece(const char **s)
{
    struct piece p = {*s, 0};
    while (**s && **s != '=' && **s != ';') ++*s, p.n++;
    if (**s) ++*s;
    return p;
}
static void *allocate(unsigned n) { void *p = pool + used; used += (n + 7u) & ~7u; return p; }
static int value_of(struct link *l) { return container_of(l, struct item, link)->value; }
static int sum(const uint8_t *p, const uint8_t *end) { int s = 0; while (p != end) s += *p++; return s; }
static int backwards(const uint8_t *end, int n) { int s = 0; while (n--) s += *--end; return s; }
static int last(struct view v) { return v.end[-1]; }
static struct view view_of(const uint8_t *p, unsigned n) { struct view v = {p, p + n}; return v; }
static int trimmed(const char *s) { const char *e = s + strlen(s); while (e > s && e[-1] == ' ') e--; return (int)(e - s); }
static void fill(int *x, int n) { while (n--) *x++ = n; }
static int depth(const uint8_t *p, int n) { uint8_t own[2] = {1, 2}; return n ? depth(own, n - 1) + p[1] : own[0]; }

int main(void)
{
    uint8_t x, n, i, local[5], *p, *q;
    int s = 0, one, table[2][3];
    uint32_t wide = 1;
    struct item *it;
    struct flexible *f;
    struct view v;
    SYM_U8(x);
    SYM_U8(n);
    SCORE_ASSUME(n <= 4);
    SYM_BYTES(local, sizeof local);
    fill(&one, 1);
    fill(&table[0][0], 6);
    fill(table[0], 6);
    memset(grid[0], n, sizeof grid);
    for (i = 0, p = &grid[0][0]; i < 12; i++) s += p[i];
    s += sum(local, local + 5) + backwards(local + 5, 5) + backwards(grid[2] + 4, n);
    s += backwards(ends[0], 4) + backwards(ends[1], n);
    it = allocate(sizeof *it + 4); it->tail[n] = 1; it->value = 3; s += value_of(&it->link);
    items[n & 1].link.next = &items[2].link; s += value_of(items[n & 1].link.next);
    f = allocate(sizeof *f + n); f->n = n; for (i = 0; i < f->n; i++) f->data[i] = i;
    s += fixed.data[n > 2 ? 2 : n];
    memcpy(&pair, local, 5); memcpy(pair.head, local, sizeof pair.head + 2); memcpy(&pair.body, local, n);
    memset(pair.more, 0, n); memmove(pair.body + 1, pair.body, 5u);
    both.raw[n & 3] = 1; memcpy(both.raw, &wide, sizeof both);
    v = view_of(before, 4); s += last(v); v = view_of(local, n); if (n) s += last(v);
    s += names[x % 3][0] + trimmed(x & 1 ? "ab  " : "") + trimmed(names[2]);
    p = local; q = p + 5; while (q > p) s += *--q;
    p = (uint8_t *)(((uintptr_t)pool + 8u) & ~(uintptr_t)7u); s += *p;
    p = (uint8_t[3]){1, 2, 3}; s += p[n & 1];
    s += depth(local, n);
    for (i = 0; i < 4; i++) s += walk(suffixes[i]) + back(suffixes[i], suffixes[i] + strlen(suffixes[i]));
    s += suffixes[3][2] + walk("perhaps" + 3) + "trailing" [n] + *(&"defg"[n]) + (n ? "yes" : "no")[n & 1];
    { const char *w = words; while (*w) w += strlen(w) + 1; s += w[-1]; }
    { const char *t = cursor; struct piece k = piece(&t); while (*t) k = piece(&t); s += k.at[k.n - 1] + t[-1]; }
    memcpy(local + 5, local, 0); memcpy(local, grid, n); strncpy((char *)local, "abc", sizeof local);
    return s & 127;
}
"""


@pytest.mark.parametrize("board", BOARDS)
def test_what_is_right_stays_silent(board: str, tmp_path: Path) -> None:
    summary = explore(tmp_path, {"a.c": INCLUDES + RIGHT}, "--board", board, "--max-tests", "400").summary
    assert summary["bugs"] == []


KEPT = """
#include <stdio.h>
#include <stdlib.h>
struct view { const uint8_t *p, *end; };
struct block { uint8_t *start, *at, *end; };
static const uint8_t a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, c[4] = {9, 10, 11, 12};
static const uint8_t *const in_turn[] = {a, b, c, b, a};
static const struct view views[] = {{c, c + 4}, {b, b + 4}, {a, a + 4}, {b, b + 4}, {c, c + 4}};
static const uint8_t *one_based[9];
static uint8_t rows[9][3], others[5][3];
static struct { char text[4]; int more; } line;

static int eat(struct view v) { int s = 0; while (v.p < v.end) s += *v.p++; return s; }
static int drain(struct view *v) { int s = 0; while (v->p < v->end) s += *v->p++; return s; }
static struct view view_of(const uint8_t *p, unsigned n) { struct view v; v.p = p; v.end = p + n; return v; }
static int ignore(const uint8_t *p) { (void)p; return 0; }
static int look(const uint8_t *p) { return *p; }
static int (*volatile call)(const uint8_t *) = look;
static int in_the_next(const uint8_t *p, const uint8_t *next) { look(p); p += 4; ignore(p); return call(next); }
static void grow(struct block *k)
{
    size_t n = (size_t)(k->end - k->start);
    uint8_t *grown = malloc(2 * n);
    memcpy(grown, k->start, n);
    free(k->start);
    k->at += grown - k->start; /* C leaves it open, compilers do not */
    k->end = grown + 2 * n;
    k->start = grown;
}
int main(void)
{
    uint8_t x, i, *old, *p;
    char text[9];
    static volatile size_t none;
    int s = 0;
    struct view v;
    struct block k;
    SYM_U8(x);
    for (i = 0; i < 5; i++) {
        v = view_of(in_turn[i], 4); s += drain(&v);
        s += eat(view_of(in_turn[i], 4));
        v = views[i]; s += drain(&v);
        memcpy(&v, &views[i], sizeof v); s += drain(&v);
    }
    s += in_the_next(a, b) + in_the_next(b, a) + in_the_next(b, c) + in_the_next(c, b);
    for (i = 0; i < 9; i++) one_based[i] = (i & 1 ? others[i / 2] : rows[i]) - 1;
    for (i = 0; i < 9; i++) s += one_based[i][1] + one_based[i][3];
    k.start = k.at = malloc(2); k.end = k.start + 2;
    for (i = 0; i < 7; i++) { if (k.at == k.end) grow(&k); *k.at++ = x; }
    s += k.at[-1];
    old = malloc(3); p = old + 2; k.start = realloc(old, 9); p += k.start - old; *p = x;
    memset(&line, 1, sizeof line);
#ifdef __linux__
    fgets(line.text, 4, stdin); sprintf(text, "%.1f", 1.5);
#endif
    snprintf(line.text, 0, "abc"); snprintf(line.text, none, "");
    sprintf(text, "%s", (const char *)"abcd" + 2); sprintf(text, "%d", i);
    return x == 3 ? s & 15 : 0;
}
"""


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
def test_what_was_kept_of_pointers_ends_with_where_they_lay(board: str, tmp_path: Path) -> None:
    summary = explore(tmp_path, {"a.c": INCLUDES + KEPT}, "--board", board).summary
    assert summary["bugs"] == []
    assert summary["stopped"] == "exhausted"

LEFT = """
#include <setjmp.h>
#include <stdlib.h>
#ifdef __linux__
#include <ucontext.h>
#endif
union end { uint8_t *p; uintptr_t u; uint8_t raw[sizeof(void *)]; };
struct __attribute__((packed)) tagged { uint8_t tag; uint8_t *end; };
struct part { uint8_t *at; union { uint8_t *end; int n; } u; struct { uint8_t *deep; } in[2]; };
static uint8_t a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, c[4] = {9, 9, 9, 9};
static uint8_t *const starts[] = {a, b, c};
static union end ends[3];
static struct tagged tags[2];
static struct part parts[3];
static uint8_t *list[6];
static jmp_buf where;

static int sum(const uint8_t *p, int n) { int s = 0; while (n--) s += *p++; return s; }
static int back(const uint8_t *end, int n) { int s = 0; while (n--) s += *--end; return s; }
static uint8_t *start(int i) { return starts[i % 3]; }
static uint8_t *end(int i) { return start(i) + 4; }
static void swap(void *x, void *y, size_t n) { uint8_t *p = x, *q = y; while (n--) { uint8_t t = *p; *p++ = *q; *q++ = t; } }
static int order(const void *x, const void *y) { uint8_t *const *p = x, *const *q = y; return *p < *q ? -1 : *p > *q; }
static struct part part(int i) { struct part k = {start(i), {end(i)}, {{end(i)}, {start(i)}}}; return k; }
static int whole(struct part k) { return back(k.u.end, 4) + sum(k.at, 4) + back(k.in[0].deep, 4) + sum(k.in[1].deep, 4); }
static int leave(int n) { uint8_t own[16]; memset(own, n, 16); if (!n) longjmp(where, 1); return leave(n - 1) + sum(own, 16); }
static int after(void) { uint8_t wide[80]; memset(wide, 1, 80); return sum(wide, 80); }
static int lengths(void) { int s = 0, i; for (i = 1; i < 7; i++) { uint8_t v[3 * i]; memset(v, i, 3 * i); s += sum(v, 3 * i); } return s; }
#ifdef __linux__
static ucontext_t home, one, two;
static uint8_t stacks[2][65536], *mail;
static int total;
static void first(void) { uint8_t k[12]; for (int i = 0; i < 3; i++) { memset(k, i, 12); mail = k; total += after(); swapcontext(&one, &two); total += sum(k, 12); } }
static void nested(int n) { uint8_t k[8]; memset(k, n, 8); if (n) nested(n - 1); else swapcontext(&two, &one); total += sum(k, 8); }
static void second(void) { for (int i = 0;; i++) { uint8_t k[20]; memset(k, 1, 20); memcpy(k, mail, 12); nested(i); total += sum(k, 20) + sum(mail, 12); } }
static void start_of(ucontext_t *t, uint8_t *stack, void (*f)(void))
{
    getcontext(t);
    t->uc_stack.ss_sp = stack;
    t->uc_stack.ss_size = sizeof stacks[0];
    t->uc_link = &home;
    makecontext(t, f, 0);
}
static int tasks(void)
{
    start_of(&one, stacks[0], first);
    start_of(&two, stacks[1], second);
    swapcontext(&home, &one);
    memset(stacks, 0, sizeof stacks); /* what was in there has ended */
    return total;
}
#else
static int tasks(void) { return 0; }
#endif
int main(void)
{
    uint8_t x, *p;
    uint8_t *two_of[2];
    int s = 0, i;
    union end copy;
    struct tagged t;
    struct part *k;
    for (i = 1; i < 4; i++) { if (!setjmp(where)) leave(i); s += after(); }
    s += lengths() + tasks();
    SYM_U8(x);
    for (i = 0; i < 3; i++) ends[i].p = end(i);
    for (i = 0; i < 3; i++) { memcpy(copy.raw, ends[i].raw, sizeof copy); s += back(copy.p, 4); copy.u -= 4; s += sum(copy.p, 4); }
    swap(&ends[0], &ends[2], sizeof *ends);
    for (i = 0; i < 3; i++) s += back(ends[i].p, 4);
    for (i = 0; i < 6; i++) list[i] = i & 1 ? end(i / 2) : start(i / 2);
    for (i = 0; i < 6; i += 2) { s += back(list[i + 1], 4); list[i + 1] -= 4; s += sum(list[i + 1], 4); }
    for (i = 0; i < 6; i++) list[i] = i & 1 ? end(i / 2) : start(i / 2);
    qsort(list, 6, sizeof *list, order);
    for (i = 0; i < 3; i++) { parts[i] = part(i + 1); s += whole(parts[i]); }
    k = malloc(sizeof *k); *k = parts[2]; s += whole(*k) + whole(part(x % 3)); memset(k, 0, sizeof *k); k->at = a; s += *k->at;
    for (i = 0; i < 2; i++) { tags[i].tag = i; tags[i].end = end(i); }
    t = tags[1]; s += back(tags[0].end, 4) + back(t.end, 4);
    p = x & 1 ? end(0) : end(1); s += back(p, 4); p = x & 2 ? p - 4 : start(2); s += sum(p, 4);
    two_of[x & 1] = end(1); two_of[!(x & 1)] = start(1); s += back(two_of[x & 1], 4) + sum(two_of[!(x & 1)], 4);
    return s & 63;
}
"""


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
def test_ends_in_odd_places_and_stacks_that_were_left_stay_silent(board: str, tmp_path: Path) -> None:
    summary = explore(tmp_path, {"a.c": INCLUDES + LEFT}, "--board", board).summary
    assert summary["bugs"] == []
    assert summary["stopped"] == "exhausted"


SECTIONS = """
struct command { const char *name; int (*run)(int); };
#define COMMAND(n) static const struct command n __attribute__((section("commands"), used, aligned(sizeof(void *)))) = {#n, run_##n}
static int run_one(int x) { return x + 1; }
static int run_two(int x) { return x + 2; }
COMMAND(one);
COMMAND(two);
extern const struct command __start_commands[], __stop_commands[];
#define ENTRY __attribute__((section("entries"), used, aligned(8)))
static const int64_t entries_begin[0] ENTRY = {};
static const int64_t entry = 2, another ENTRY = 2, third ENTRY = 3;
static const int64_t entries_end[0] ENTRY = {};
#define ROW __attribute__((section("rows"), used, aligned(8)))
static const int64_t first_row ROW = 1, one_row ROW = 2, last_row ROW = 3;
#define CALLED __attribute__((section("called"), used, aligned(sizeof(void *))))
static int (*const first_called)(int) CALLED = run_one, (*const last_called)(int) CALLED = run_two;
static int go(int (*const *p)(int), int (*const *end)(int)) { int s = 0; for (; p <= end; p++) s += (*p)(1); return s; }
static int64_t total(const int64_t *p, const int64_t *end) { int64_t s = 0; while (p < end) s += *p++; return s; }
extern uint8_t __bss_start__[], __bss_end__[];
static uint8_t first_of_bss, others[4];
static int call(const struct command *c, int x) { return c->run(x); }
static int give(const struct command *c) { return c == &one; }
int main(void)
{
    const struct command *c;
    const uint8_t *p;
    uint8_t x;
    int s = 0;
    SYM_U8(x);
    s += give(&one) + (int)total(&entry, &entry + 1) + (int)total(&another, &another + 1);
    s += &first_called < &last_called ? go(&first_called, &last_called) : go(&last_called, &first_called);
    s += (int)(&first_row < &last_row ? total(&first_row, &last_row + 1) : total(&last_row, &first_row + 1));
    s += (int)(entries_begin < entries_end ? total(entries_begin, entries_end) : total(entries_end, entries_begin));
    for (c = __start_commands; c < __stop_commands; c++) s += call(c, x & 3);
    others[x & 3] = 1; first_of_bss = x; s += *(&first_of_bss);
    for (p = __bss_start__; p < __bss_end__ && p < __bss_start__ + 40; p++) s += *p != 0;
    return x == 3 ? s & 15 : 0;
}
"""


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
def test_tables_between_symbols_of_the_linker_have_no_bounds(board: str, tmp_path: Path) -> None:
    start, end = {"native": ("__bss_start", "_end"), "mps2-an385": ("__put_bss_start", "__put_bss_end")}[board]
    text = INCLUDES + SECTIONS.replace("__bss_start__", start).replace("__bss_end__", end)
    summary = explore(tmp_path, {"a.c": text}, "--board", board).summary
    assert summary["bugs"] == []
    assert summary["stopped"] == "exhausted"




ENTRY = """
#include <string.h>
struct p { int a, b; };
int reboot(const char *s) { return strcmp(s, "reboot") == 0; }
int sum(struct p *p, int count) { int s = 0, i; for (i = 0; i < count && i < 5; i++) s += p[i].a; return s > 3; }
int parse(const unsigned char *b, unsigned n) { return n > 3 && b[n + 14] == 9; /* out-of-bounds: of the buffer */ }
"""


@pytest.mark.parametrize("entry", ["reboot", "sum", "parse"])
def test_what_an_entry_gets_for_a_pointer_stands_for_more(entry: str, tmp_path: Path) -> None:
    """It is no bug of the function that the harness gave it one object; a buffer with its length ends where it ends."""
    summary = explore(tmp_path, {"e.c": ENTRY}, "--entry", entry, "--max-tests", "50").summary
    assert found(summary) == (expected(ENTRY) if entry == "parse" else set())


FRAME = """
#include <string.h>
#include "score.h"
static int take(const char *s, unsigned n) { char name[6]; memcpy(name, s, n); return name[0]; }
int main(void) { char in[40]; unsigned char n; SYM_BYTES(in, 40); SYM_U8(n); SCORE_ASSUME(n < 36); return take(in, n); }
"""


def test_without_the_check_a_smashed_frame_ends_no_campaign(tmp_path: Path) -> None:
    summary = explore(tmp_path, {"a.c": FRAME}, "--board", "mps2-an385", "--check", "none").summary
    assert (summary["stopped"], summary["paths"], summary["lost"]) == ("exhausted", 36, 0)
    assert {(bug["file"], bug["line"], bug["function"]) for bug in summary["bugs"]} == {("a.c", 4, "take")}


MARKED = """
#include "score.h"
static void mark(unsigned char *p, unsigned char c) { *p++ = c; *p ^= 1; }
int main(void)
{
    unsigned char u[8] = {0}, a;
    SYM_U8(a);
    mark(u + (a & 3), a);
    return u[2] > 7;
}
"""


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
def test_a_recalled_origin_has_no_formula(board: str, tmp_path: Path) -> None:
    """It is not the pointer's: the runtime knew better."""
    summary = explore(tmp_path, {"a.c": MARKED}, "--board", board, "--verify").summary
    assert (summary["stopped"], summary["divergences"]) == ("exhausted", 0)


NAMED = """
#include "score.h"
static const char *const names[] = { "?", "union", "?", "while" };
static int differ(const char *left, const char *right)
{
    const char *r = right;
    for (; *left == *r; left++, r++)
        if (!*left) return 0;
    return 1;
}
int main(void)
{
    char in[6] = "while";
    const char *name;
    SYM_BYTES(in, 2);
    name = names[in[0] & 3];
    return *in == *name && !differ(in + 1, name + 1);
}
"""


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
@pytest.mark.parametrize("options", [(), ("--verify",)])
def test_a_recalled_origin_is_symbolic_where_it_was(board: str, options: tuple[str, ...], tmp_path: Path) -> None:
    """The word that the name is in depends on the input, so that it is in there is no condition of this run's word."""
    summary = explore(tmp_path, {"a.c": NAMED}, "--board", board, *options).summary
    assert (summary["stopped"], summary["paths"], summary["runs"]) == ("exhausted", 4, 4)
    assert (summary["bugs"], summary["mispredicted"]) == ([], 0)


TRAILING = """
#include <stdlib.h>
#include "score.h"
typedef struct { unsigned length; char data[2]; } text;
struct other { unsigned length; char data[2]; };
int main(void)
{
    unsigned char n, at;
    SYM_U8(n);
    SYM_U8(at);
    SCORE_ASSUME(n > 0 && n < 6 && at < 4);
    text *made = (text *) RESERVE(n + (sizeof(text) - 1));
    made->data[n == 5 ? n + EXCESS : n] = 0;
    struct other *as_it_is = malloc(sizeof(struct other) + 8 * sizeof(struct other));
    return as_it_is->data[at] = 1;
}
"""


@pytest.mark.parametrize("reserve", ["malloc", "room"])
@pytest.mark.parametrize("excess", [0, 3])
def test_an_array_at_the_end_is_as_long_as_its_structure_is_allocated(
    reserve: str, excess: int, tmp_path: Path
) -> None:
    """As mawk's strings are. A structure that is not allocated so ends where it says."""
    room = "static void *room(unsigned size) { return malloc(size); }\n"
    program = TRAILING.replace("int main", f"{room}int main").replace("RESERVE", reserve)
    found = explore(tmp_path, {"p.c": program.replace("EXCESS", str(excess))})
    lines = {line: number for number, line in enumerate(program.splitlines(), 1)}
    expected = [number for line, number in lines.items() if "as_it_is->" in line or (excess and "EXCESS" in line)]
    bugs = sorted((bug["line"], bug["kind"]) for bug in found.summary["bugs"])
    assert bugs == [(number, "out-of-bounds") for number in expected]
