"""Small programs that use values as they are, and formulas that their paths have made constants: where paths could be
lost.

Each has two symbolic bytes, `a` and `b`. `B` marks what a branch decides, `ENTERED` a function that a pointer may lead
to, so that the plain program (support/plain.py) can tell its paths without knowing of probes.
"""

from __future__ import annotations

HEAD = """
#include <stdint.h>
#include <string.h>
#include "score.h"
#ifdef PLAIN
void plain_decision(unsigned long long);
#define B(c) ({ int b_ = !!(c); plain_decision(b_); b_; })
#define ENTERED(number) plain_decision(number);
#else
#define B(c) (c)
#define ENTERED(number)
#endif
"""
_CELLS = "struct cell { unsigned char k, v; };\nstatic struct cell t[3] = {{1, 2}, {3, 4}, {5, 6}};\n"

# By name: what stands before main, and what main does with `a` and `b`.
PROGRAMS: dict[str, tuple[str, str]] = {
    "overwritten": (
        "",
        "int x = a + b; if (B(x == 7)) { x = a; if (B(x > 3)) return 1; x = b; if (B(x == 7)) return 2; }"
        " a = b; if (B(a == 7)) return 3;",
    ),
    "compared, changed, compared": (
        "",
        "int x = a * 2 + b; if (B(x == 20)) { x++; if (B(x == 21)) { x += a; if (B(x == 30)) return 1;"
        " if (B(x - a == 21)) { if (B(b > 10)) return 2; return 5; } } else return 6; }"
        " x -= b; if (B(x == 20)) { if (B(a == 10)) return 3; return 7; }",
    ),
    "negative": (
        "",
        "int d = (signed char)a - (signed char)b; if (B(d == -5)) { if (B(d * (signed char)b == -10)) return 1;"
        " if (B((unsigned)d > 100u)) { if (B((signed char)(d * 30) > 0)) return 2; return 6; } }"
        " if (B(d < -200)) return 3; if (B((short)d == (short)0xfffb)) return 4;",
    ),
    "parts": (
        "union u { uint16_t w; uint8_t c[2]; struct { unsigned lo : 5, mid : 6, hi : 5; } f; };",
        "union u v; v.c[0] = a; v.c[1] = b; if (B(v.w == 0x1234)) { if (B(v.c[0] == 0x34)) return 1; return 2; }"
        " if (B(v.f.mid == 33)) { if (B(v.f.lo == 3)) { v.f.mid = 2; if (B(v.w == 0x43)) return 3; }"
        " if (B(v.c[0] >> 5 == 1)) { if (B((v.c[1] & 7) == 4)) return 5; return 9; } return 6; }",
    ),
    "wide": (
        "",
        "int64_t x = (int64_t)a - b - 1; if (B(x == -1)) { if (B((uint64_t)x >> 63)) { if (B(a == 9)) return 1; return 2; }"
        " return 3; } if (B((uint64_t)x == 0xfffffffffffffff0ull)) { if (B(x < 0)) return 4; return 5; }",
    ),
    "interleaved": (
        "",
        "int d = a - b, e = a + b; if (B(d == 4)) { if (B(e == 10)) { if (B(a == 7)) { if (B(b == 3)) return 1; return 2; }"
        " return 3; } if (B(d + e == 2 * a)) return 4; return 5; }"
        " if (B(e == 10)) { if (B(d == -10)) return 6; if (B(d > 0)) return 7; return 8; }",
    ),
    "nothing is below one": (
        "",
        "unsigned x = a & b; if (B(x < 1)) { if (B(x == 0)) { if (B((a | b) == 255)) return 1; return 6; } return 2; }"
        " if (B(x * 2 < 3)) { if (B(x == 1)) return 3; return 5; }",
    ),
    "floating point": (
        "static volatile float t[4] = {0.5f, 1.5f, 2.5f, -1.0f};",
        "float f = t[a & 3]; if (B(f > 1.0f)) { if (B((int)f == (b & 3))) return 1; return 2; }"
        " if (B(f < 0.0f)) { if (B((a & 3) == 3)) return 3; return 4; } if (B(f * 2 == (float)b)) return 5;",
    ),
    "growing input": (
        "",
        "unsigned char x; int s = 0; if (B((a & 3) == 2)) { SYM_U8(x); s = x & 1; if (B(a == 6)) return 1; }"
        " if (B(a + b == 20)) { if (B(s)) return 2; if (B(b == 13)) return 3; return 4; }",
    ),
    "volatile": (
        "static volatile unsigned char t[8] = {1, 2, 3, 4, 5, 6, 7, 8}; static volatile int s;",
        "s = t[a & 7]; if (B(s == 4)) return 1; t[b & 7] = a; if (B(t[3] == 9)) return 2; if (B(t[a & 7] > t[b & 7])) return 3;",
    ),
    "the same value twice": (
        "static volatile unsigned char t[4] = {1, 2, 3, 4}, u[4] = {4, 4, 5, 5};",
        "int x = t[a & 3], y = u[a & 3]; if (B(x + y == 8)) return 1;"
        " if (B(y == 5)) { x = t[a >> 1 & 3]; if (B(x == 2)) return 2; return 4; } y = u[(a & 3) ^ 1]; if (B(y == 4)) return 3;",
    ),
    "part of a value": (
        "static volatile unsigned char t[8] = {0, 1, 2, 3, 4, 5, 6, 7};",
        "int x = t[a & 6]; if (B((a & 7) == x)) { if (B(a & 1)) return 1; return 2; }"
        " if (B(a & 1)) { if (B((a & 7) == x + 1)) return 3; return 4; } x = t[(a & 1) | (b & 6)]; if (B(x == 7)) return 5;",
    ),
    "two bytes": (
        "static volatile unsigned char t[32];",
        "for (int i = 0; i < 32; i++) t[i] = (unsigned char)(i % 5); int x = t[(a & 3) * 8 + (b & 7)];"
        " if (B(x == 4)) { if (B(a == b)) return 1; return 2; } if (B((a & 3) * 8 + (b & 7) == 9)) return 3;"
        " if (B((b & 7) == x)) return 4;",
    ),
    "pointers to functions": (
        "typedef int (*fn)(int); static int f0(int x) { ENTERED(10) return x + 1; }\n"
        "static int f1(int x) { ENTERED(11) if (B(x == 9)) return 3; return x; } static int f2(int x) { ENTERED(12) return -x; }\n"
        "static const fn r0[2] = {f0, f1}, r1[2] = {f2, 0}, r2[2] = {f1, f1}; static const fn *const rows[3] = {r0, r1, r2};",
        "int r = 0; if (B(rows[a % 3][b & 1] != 0)) r = rows[a % 3][b & 1](b >> 1); if (B(r == -4)) return 1;"
        " if (B(r == 3)) return 2;",
    ),
    "functions that change the table": (
        "struct dev { int (*open)(struct dev *, int); int state; };\n"
        "static int oa(struct dev *d, int v) { ENTERED(10) d->state += v; if (B(d->state > 5)) return 1; return 0; }\n"
        "static int ob(struct dev *d, int v) { ENTERED(11) d->state -= v; d->open = oa; return 2; }\n"
        "static struct dev ds[2] = {{oa, 0}, {ob, 3}};",
        "int r = 0; for (int i = 0; i < 3; i++) r += ds[a >> i & 1].open(&ds[a >> i & 1], b >> 2 * i & 3);"
        " if (B(r == 4)) return 1; if (B(ds[0].state == ds[1].state)) return 2;",
    ),
    "functions that call through the table": (
        "typedef int (*fn)(int, int); static int f0(int, int), f1(int, int);\n"
        "static int f2(int n, int m) { ENTERED(12) return n + m; } static const fn t[4] = {f0, f1, f2, f2};\n"
        "static int f0(int n, int m) { ENTERED(10) if (B(n <= 0)) return m; return t[m & 3](n - 1, m + 1); }\n"
        "static int f1(int n, int m) { ENTERED(11) if (B(n == 2)) return 9; return t[(n + m) & 3](n - 1, m >> 1); }",
        "int r = t[a & 3](b & 3, a >> 2 & 7); if (B(r == 9)) return 1; if (B(r == (a >> 2 & 7))) return 2;",
    ),
    "structures and later stores": (
        "struct c { unsigned char k[4]; int v; };\n"
        "static struct c t[4] = {{{1, 2, 3, 4}, 5}, {{6, 7, 8, 9}, 10}, {{1, 1, 1, 1}, 1}, {{0, 0, 0, 0}, 0}};",
        "struct c *p = &t[a & 3], x = *p; p->k[b & 3] = b; x.k[a >> 2 & 3] = 77; if (B(t[1].k[2] == b)) return 1; *p = x;"
        " if (B(t[1].k[2] == 77)) return 2; if (B(p->v == (b & 15))) return 3; if (B(t[b & 3].v == t[a & 3].v)) return 4;",
    ),
    "large structures": (
        "struct r { unsigned char d[40], n; }; static struct r rs[3];",
        "struct r x; rs[1].n = 3; rs[2].d[5] = 9; x = rs[a % 3]; if (B(x.n == 3)) { if (B(x.d[b % 40] == 9)) return 1; return 2; }"
        " if (B(x.d[b % 40] == 9)) return 3; x.d[b % 40] = 1; rs[b % 3] = x; if (B(rs[0].d[7] == 1)) return 4;",
    ),
    "unions": (
        "union u { unsigned char c[4]; uint32_t w; }; static union u t[3] = {{{1, 2, 3, 4}}, {{5, 6, 7, 8}}, {{9, 9, 9, 9}}};",
        "union u x = t[a % 3]; if (B(x.w == 0x09090909)) return 1; if (B(x.c[b & 3] == 6)) return 2; t[b % 3] = x;"
        " if (B(t[2].w == 0x08070605u)) return 3;",
    ),
    "a structure returned": (
        f"{_CELLS}static struct cell get(int i) {{ return t[i]; }}",
        "struct cell x = get(a % 3); if (B(x.k == 3)) { if (B(a == b)) return 1; return 2; } if (B(x.v > 5)) return 3;",
    ),
    "a structure returned from a pointer": (
        f"{_CELLS}static struct cell get(const struct cell *p) {{ return *p; }}\n"
        "static struct cell at(int i) { return get(&t[i]); }",
        "t[b % 3].k = 9; if (B(get(&t[a % 3]).k == 9)) { if (B(a % 3 == b % 3)) return 1; return 2; }"
        " if (B(at(b % 3).v == 6)) return 3;",
    ),
    "a structure as an argument": (
        f"{_CELLS}static int f(struct cell x) {{ if (B(x.k == 3)) return x.v; return x.k; }}",
        "if (B(f(t[a % 3]) == 4)) { if (B(a % 3 == 1)) return 1; return 2; } if (B(f(t[b % 3]) == 5)) return 3;",
    ),
    "pointers to pointers": (
        "static unsigned char x = 1, y = 2, *p = &x, *q = &y, **pp[2] = {&p, &q};",
        "*pp[a & 1] = b & 1 ? &x : &y; **pp[b >> 1 & 1] = 7; if (B(x == 7)) { if (B(y == 7)) return 9; return 1; }"
        " if (B(*p == *q)) return 2; if (B(p == q)) return 3;",
    ),
    "rows of tables": (
        "static const unsigned char r[4] = {1, 2, 3, 4}, s[8] = {2, 7, 1, 8, 2, 8, 1, 8}, i[4] = {3, 0, 2, 1};\n"
        "static unsigned char m[4] = {9, 2, 9, 1};\n"
        "static const unsigned char *const rows[4] = {r, s + 4, m, s}, *const more[4] = {s, r, 0, s + 2};",
        "if (B(rows[a & 3][b & 3] == 2)) { if (B(rows[a & 3][i[b & 3]] > 4)) return 1; m[b & 3] = a; return 2; }"
        " const unsigned char *q = more[a >> 2 & 3]; if (B(!q)) return 3; if (B(q[b >> 2 & 3] == 8)) return 4;"
        " if (B(q[rows[b & 3][0] & 1] == rows[3][a & 7])) return 5;",
    ),
    "atomic loads and stores": (
        "#include <stdatomic.h>\nstatic _Atomic unsigned char t[8] = {1, 5, 2, 7, 3, 9, 0, 4};\n"
        "static unsigned short u[4] = {10, 20, 30, 40}; static atomic_int n; static int asked;\n"
        "static int order(int o) { asked++; return o ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED; }",
        "if (B(atomic_load(&t[a & 7]) == 7)) return 1; atomic_store(&t[b & 7], a);"
        " if (B(atomic_load_explicit(&t[3], memory_order_relaxed) == 0x20)) return 2;"
        " __atomic_store_n(&u[a & 3], (unsigned short)(b + 1), __ATOMIC_RELEASE);"
        " if (B(__atomic_load_n(&u[1], order(1)) == 200)) return 3; if (asked != 1) return 5;"
        " atomic_init(&n, a); if (B(t[b & 7] + atomic_load(&n) == 100)) return 4;",
    ),
    "variable length": (
        "",
        "int n = (a & 7) + 1; unsigned char v[n]; for (int i = 0; B(i < n); i++) v[i] = (unsigned char)(i * b);"
        " if (B(sizeof v == 3)) return 1; if (B(v[n - 1] == 12)) return 2; if (B(v[b % n] == 4)) return 3;",
    ),
    "computed goto": (
        "",
        "static void *const l[3] = {&&x, &&y, &&z}; goto *l[a % 3]; x: ENTERED(7) if (B(b == 3)) return 1; goto *l[1 + (b & 1)];"
        " y: ENTERED(8) if (B(b > 100)) return 2; return 5; z: ENTERED(9) if (B(a == b)) return 3;",
    ),
}


def program(name: str) -> str:
    before, body = PROGRAMS[name]
    return f"{HEAD}{before}\nint main(void)\n{{\n    unsigned char a, b;\n    SYM_U8(a); SYM_U8(b);\n    {body}\n    return 0;\n}}\n"
