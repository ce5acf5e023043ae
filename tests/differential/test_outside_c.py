"""C that programs from outside have and ours had not: the instrumented program prints and returns what the plain one
does."""

from __future__ import annotations

import subprocess
from pathlib import Path

import corpus
import pytest

from score_embed.contract.outcome import Run, Verdict

PROGRAMS = {
    "pointers to variable length arrays": r"""
#include <stdio.h>
#include <stdlib.h>
static int f(int n, int m) { int (*p)[m] = malloc(sizeof(int[n][m])); int s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) p[i][j] = i * 10 + j; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) s += p[i][j] * (j + 1); int (*q)[m] = p + 1; s += (*q)[1] + q[-1][0] + (int) (q - p); q++; s += q == p + 2; int r = s + (int) sizeof *p; free(p); return r; }
static int g(int n) { typedef int row[n]; row a; typedef row *prow; prow p = &a; n = 100; for (int i = 0; i < (int) (sizeof(row) / sizeof(int)); i++) a[i] = i; return (*p)[3] + (int) sizeof(row) + (int) sizeof a; }
static int h(int n, int (*a)[n]) { int (*b)[n] = a; b += 1; return b[0][1] + (int) sizeof *b; }
static int k(int n) { int a[3][n]; int (*p)[n] = a; for (int i = 0; i < 3; i++, p++) for (int j = 0; j < n; j++) (*p)[j] = i + j; p = &a[1]; return p[1][2] + h(n, a) ; }
static int w(int n) { int (*p)[n++]; return n + (int) sizeof *p; }
int main(void){ printf("%d %d %d %d\n", f(3, 4), g(5), k(4), w(3)); return 0; }
""",
    "#pragma pack inside a function": r"""
#include <stdio.h>
struct a { char c; int i; };
#pragma pack(push, 2)
struct o { char c; int i; };
int main(void) {
  struct l { char c; int i; short b : 3; };
#pragma pack(push, 1)
  struct p { char c; int i; unsigned f : 5, g : 20; };
  { struct q { char c; long long i; } x; printf("%d\n", (int) sizeof x); }
#pragma pack(pop)
  struct r { char c; long long i; } y;
_Pragma("pack(1)") struct t { char c; int i; };
#pragma pack()
  struct u { char c; int i; unsigned f : 5, g : 20; }; struct p pp = { .g = 5 }; struct u uu = { .g = 6 }; pp.g++; uu.g++; uu.f--;
  printf("%d %d %d %d %d %d %d %d %d %d\n", (int) sizeof(struct a), (int) sizeof(struct o), (int) sizeof(struct l), (int) sizeof(struct p), (int) sizeof y, (int) sizeof(struct t), (int) sizeof(struct u), pp.g, uu.g, uu.f);
  return 0;
}
struct v { char c; int i; };
int f(void) { return sizeof(struct v); }
""",
    "sizes of a thread's object, and of one that is declared again": r"""
#include <stdio.h>
static _Thread_local int slots[3] = { 1, 2 };
static const int size = sizeof slots;
static int t[4];
extern int t[];
static int *volatile at = t;
int main(int argc, char **argv)
{
    at[argc + 2] = size;
    printf("%d %d %d\n", t[3], (int) sizeof t, slots[argc]);
    return t[argc + 2];
}
""",
    "overflow of mixed signs in 64 bits, and what only says it": r"""
#include <stdio.h>
#include <limits.h>
long long v[] = {0,1,-1,2,-2,3,LLONG_MAX,LLONG_MIN,LLONG_MAX-1,LLONG_MIN+1,1LL<<32,-(1LL<<32),3037000499LL,3037000500LL,-3037000500LL, 4294967295LL, 2147483648LL, -2147483648LL,-2147483649LL};
#define T(name, TA, TB, TR) for (int i = 0; i < sizeof v / sizeof *v; i++) for (int j = 0; \
    j < sizeof v / sizeof *v; j++) { TR r = 0; int o = name((TA) v[i], (TB) v[j], &r); \
    h = h * 31 + o + (unsigned long long) r * 7; n += o; }
#define P(name, TA, TB, TR) for (int i = 0; i < sizeof v / sizeof *v; i++) for (int j = 0; \
    j < sizeof v / sizeof *v; j++) { int o = name((TA) v[i], (TB) v[j], (TR) 0); h = h * 31 + o; n += o; }
typedef long long L; typedef unsigned long long U; typedef signed char C;
#define ALL(M, name) M(name,L,L,L) M(name,L,L,U) M(name,U,U,L) M(name,U,U,U) M(name,L,U,L) M(name,U,L,U) \
    M(name,U,L,L) M(name,L,L,int) M(name,L,U,unsigned) M(name,int,U,L) M(name,C,L,C) M(name,int,int,L) \
    M(name,unsigned,int,int) M(name,unsigned,L,unsigned char)
int main(void){ unsigned long long h = 1; int n = 0; ALL(T,__builtin_add_overflow) printf("%llx %d\n", h, n);
    ALL(T,__builtin_sub_overflow) printf("%llx %d\n", h, n);
    ALL(T,__builtin_mul_overflow) printf("%llx %d\n", h, n);
 ALL(P,__builtin_add_overflow_p) ALL(P,__builtin_sub_overflow_p) ALL(P,__builtin_mul_overflow_p) printf("%llx %d\n", h, n); long long r; T(__builtin_smulll_overflow,L,L,L) T(__builtin_saddll_overflow,L,L,L) T(__builtin_ssubll_overflow,L,L,L) printf("%llx %d\n", h, n); return 0; }
""",
    "atomic operations give what their pointer leads to": r"""
#include <stdio.h>
#include <stdatomic.h>
static long long ll = 1LL << 40; static int *p; static int x[3]; static _Atomic long al = 5;
    static unsigned char b = 200; static short sh = -3; static long long big[2];
int main(void){ p = x; long long o = __sync_fetch_and_add(&ll, 1); printf("%llx %llx\n", o, ll);
    int *q = __atomic_load_n(&p, __ATOMIC_SEQ_CST); printf("%d\n", q == x); __atomic_store_n(&p, x + 1, 5);
    printf("%d\n", p == x + 1); q = __sync_val_compare_and_swap(&p, x + 1, x + 2);
    printf("%d %d\n", q == x + 1, p == x + 2);
 printf("%ld\n", atomic_fetch_add(&al, 3)); printf("%ld\n", atomic_load(&al)); long e = 8;
    printf("%d\n", atomic_compare_exchange_strong(&al, &e, 1L << 35)); printf("%ld\n", (long) al);
    printf("%d %d\n", __sync_fetch_and_add(&b, 100), b); printf("%d %d\n", __atomic_add_fetch(&b, 100, 0), b);
    __sync_synchronize(); printf("%d\n", __atomic_exchange_n(&sh, 4, 5)); bool: ; _Bool f = 0;
    printf("%d %d\n", __atomic_test_and_set(&f, 5), f); __atomic_clear(&f, 5);  long long r;
    __atomic_load(&ll, &r, 5); printf("%llx\n", r);
    printf("%llx\n", __sync_lock_test_and_set(&ll, 1ull << 50)); __sync_lock_release(&ll);
    printf("%llx %d\n", ll, __sync_bool_compare_and_swap(&ll, 0, 3));
    unsigned bits = 0x3fc00000; float fl, two = 2; __atomic_load(&bits, &fl, 5); __atomic_store(&bits, &two, 5);
    printf("%g %x\n", fl, bits);
    unsigned u = __atomic_fetch_nand(&big[0], 1, 5); printf("%u\n", u); return 0; }
""",
    "functions without a declaration that the compiler knows": r"""
int main(void) { char *p = malloc(10); double d = sqrt(2.0); p[0] = 'x'; p[1] = 0;
    printf("%s %d %g %d\n", p, (int) strlen(p), d, (int) pow(2, 3)); char *q = strchr(p, 'x');
    printf("%d %s\n", q == p, strdup(q)); if (fabs(-1.5) != 1.5 || labs(-1L << 40) != 1L << 40) abort();
    exit(3); }
""",
    "long double is classified once": r"""
#include <stdio.h>
#include <math.h>
static int n; static long double ld(long double x) { n++; return x; } static double dd(double x) { n++;
    return x; }
int main(void){ float f = 1; double d = 2; long double l = 3; int i = 4;
 printf("%d%d%d%d%d%d\n", isless(f, d), islessequal(d, d), isgreater(l, d), isgreaterequal(i, l), islessgreater(f, l), isunordered(f, NAN));
 printf("%d%d%d%d%d\n", isnan(ld(NAN)) != 0, isinf(ld(1)) != 0, isfinite(l) != 0, isnormal(l) != 0, signbit(-l) != 0); printf("%d %d\n", isless(ld(1), ld(2)), n); printf("%d %d\n", isless(dd(1), i), n); printf("%d\n", fpclassify(ld(0)) == FP_ZERO); printf("%d %d\n", __builtin_isless(1, 2.0), __builtin_isinf_sign(-__builtin_inf())); printf("%d\n", isinf(f) != 0); printf("%d %d\n", (int) isless(ld(5), f), n);
 return 0; }
""",
    "names beyond ASCII": r"""
#include <stdio.h>
struct \u00e9t { int x\u00e9; }; static int naïve(int \u03b1) { int β = \u03b1 * 2; { int \u03b2 = 5;
    β += \u03b2; } return β; }
typedef int \U0001d4d0t; enum { ΩMEGA = 3 }; const char *s = "\u03b1β"; char c8[] = u8"α";
int main(void) { struct ét v = { .xé = 4 }; 𝓐t q = v.x\u00e9; goto ä;
    ä: printf("%d %d %d %s %d\n", naïve(3), q, ΩMEGA, s, (int) sizeof c8); return 0; }
""",
    "the program's own macros of the library's names": r"""
#include <stdio.h>
#include <ctype.h>
static int my_getc(FILE *f) { (void) f; return 'Z'; } static int my_up(int c) { return '!'; }
#define getc my_getc
#define toupper my_up
#include <stdio.h>
#include <ctype.h>
int main(void){ putchar(getc(stdin)); putchar(toupper('a')); putchar('\n'); return 0; }
""",
    "objects of a thread": r"""
#include <stdio.h>
static _Thread_local int x = 5; __thread int t[4] = {1,2,3}; static __thread struct { int a, b; } s = {
    4, 5 }; static int y = 9; static _Thread_local int *p = &y; static int arr[3];
    static __thread int *q = arr; extern __thread int t[];
int main(void){ x++; t[3] = x; static __thread int z = 3; z++;
    printf("%d %d %d %d %d %d\n", x, t[3], s.b, *p, z, q == arr); return t[1]; }
""",
    "casts to unions": r"""
#include <stdio.h>
struct S { int a; short b; }; union u { struct S s; int i; double d; char *p; }; union w { int i; } ;
static int f(union u x) { return x.s.b; }
static int n = 0;
static struct S mk(void) { n++; struct S s = {1, 7}; return s; }
int main(void){ struct S s = {3, 4}; union u v = (union u) s; printf("%d %d\n", v.s.b, f((union u) s));
    printf("%d\n", ((union u) 5).i); printf("%g\n", ((union u) 2.5).d); v = (union u) mk();
    printf("%d %d\n", v.s.b, n); printf("%d\n", ((union u)(union u)s).s.a); char *t = "abc";
    printf("%s\n", ((union u) t).p); return 0; }
""",
    "choose_expr": r"""
#include <stdio.h>
#define same(a, T) __builtin_choose_expr(__builtin_types_compatible_p(__typeof__(a), T), 1, (void) 0)
#define name(x) __builtin_choose_expr(__builtin_types_compatible_p(__typeof__(x), double), "double", __builtin_choose_expr(__builtin_types_compatible_p(__typeof__(x), int), "int", "other"))
struct s { int a; };
int main(void){ int a = 1, z = 0; double d; char *p; struct s s = {4};
    printf("%d %s %s %s\n", same(a, int), name(a), name(d), name(p));
    printf("%d %d %d\n", __builtin_choose_expr(sizeof(int) == 4, a, z++), __builtin_choose_expr(0, z++, 7), z); __builtin_choose_expr(1, a, z) = 9; printf("%d %d %d\n", a, (int) sizeof(__builtin_choose_expr(1, (char) 1, 5.0)), __builtin_choose_expr(1, s, a).a); return __builtin_choose_expr(__builtin_constant_p(5), 3, 4); }
""",
    "cleanup": r"""
#include <stdio.h>
static void c(int *p) { printf("c%d ", *p); }
static void cs(char **p) { printf("s%s ", *p); }
#define C __attribute__((cleanup(c)))
static int ret(int x) { int a C = 1; { int b C = 2; if (x == 1) return a + b; int d C = 3;
    if (x == 2) return d; } if (x == 3) { int e C = 4; return e; } return 9; }
static void loops(int n) { for (int i C = 0; i < n; i++) { int k C = i + 10; if (i == 1) continue;
    if (i == 3) break; printf("| "); } }
static void gotos(int x) { int n = 0; again: ; int a C = 20 + n; n++; if (x == 1 && n < 3) goto again; {
    int b C = 30; if (x == 2) goto out; if (x == 3) { int q C = 33; goto in; } in: printf("in "); }
    out: printf("out "); }
static void sw(int x) { switch (x) { case 1: { int a C = 40; break; } case 2: { int b C = 41; } default: ;
    int d C = 42; } }
static int se(int x) { return ({ int a C = x; a + 1; }) + ({ int b C = x + 50; b++; b; }); }
static void once(void) { for (int s C = 60, todo = 1; todo; todo = 0) { if (s == 61) break; printf("body "); }
    for (int s C = 62, todo = 1; todo; todo = 0) { return; } }
static double fl(void) { int a C = 70; return 2.5; }
struct S { int a[5]; }; static struct S st(void) { struct S s = {{1,2,3,4,5}}; int a C = 71; s.a[1] = 9;
    return s; }
static int changed(void) { int a C = 1; return a++ + a; }
static void two(void) { char *p __attribute__((cleanup(cs))) = "x"; const int k C = 5; static int depth;
    if (depth++ < 2) two(); }
int main(void){ for (int i = 0; i < 5; i++) { int r = ret(i); printf("=%d\n", r); } loops(5); puts("");
    for (int i = 0; i < 4; i++) { gotos(i); puts(""); } for (int i = 0; i < 4; i++) { sw(i); puts(""); } {
    int r = se(3); printf("=%d\n", r); } once(); puts(""); { double d = fl(); printf("%g\n", d); } {
    struct S s = st(); printf("%d\n", s.a[1]); } { int r = changed(); printf("%d\n", r); } two(); puts("");
    return 0; }
""",
    "an int that no word says": r"""
#include <stdio.h>
struct s { const x; volatile *p; unsigned const y; __attribute__((packed)) char c; };
static f(const a, register b, volatile *p) { return a + b + *p; }
int main(void) { const x = 6; struct s s = { 1, &s.y, 3 }; volatile v = 2; static t; static const *q = &t;
    printf("%d %d %d %d %d\n", *(const * const) &x, (const) 2.5, f(x, v, s.p), (int) sizeof(volatile), *q);
    return (int) sizeof(struct s); }
""",
    "a comma in the size of an array": r"""
#include <stdio.h>
int main(void) { char x[(1, 3)]; typedef char row[(4, 5)]; int n = 3; char z[(n++, n)]; int a[2] = { 1, 2 };
    int (*p)[(3, 2)] = &a;
    printf("%d %d %d %d\n", (int) sizeof x, (int) sizeof(row), (int) sizeof z, (int) sizeof(char[(n, 9)]));
    return (*p)[1]; }
""",
    "numbers without a suffix that no long long holds": r"""
#include <stdio.h>
int main(void) { unsigned long long x = 18446744073709551615, y = 9223372036854775808; volatile long long v = -1;
    double d = 18446744073709551615, m = -9223372036854775808; long long z = -9223372036854775808;
    static unsigned long long t[] = { 18446744073709551615, 9223372036854775808 };
    printf("%d %d %llx %llx\n", (int) sizeof 18446744073709551615, (int) sizeof 9223372036854775808, x, y);
    printf("%d %d %d\n", v < 18446744073709551615, v > -9223372036854775808, (int) (18446744073709551615 >> 63));
    printf("%f %f %d %llx %llx\n", d, m, 9223372036854775808 / 2 > 0, t[0], t[1]);
    switch (z) { case -9223372036854775808: printf("least\n"); } return 18446744073709551615 % 7 == 1; }
""",
    "structs that are atomic": r"""
#include <stdio.h>
#include <stdatomic.h>
static atomic_flag lock = ATOMIC_FLAG_INIT; static struct { int n; atomic_flag f; } both;
typedef struct { int a, b; } pair; static _Atomic pair ap; static _Atomic(pair) aq = { 1, 2 };
static pair two(int a) { pair p = { a, a + 1 }; return p; }
int main(void) { atomic_flag own = ATOMIC_FLAG_INIT; int a = atomic_flag_test_and_set(&lock);
    int b = atomic_flag_test_and_set(&lock); atomic_flag_clear(&lock);
    int c = atomic_flag_test_and_set_explicit(&both.f, 0), d = atomic_flag_test_and_set(&own);
    printf("%d %d %d %d %d\n", a, b, c, d, atomic_flag_test_and_set(&lock));
    while (atomic_flag_test_and_set(&both.f)) { both.n++; atomic_flag_clear(&both.f); }
    ap = two(4); pair x = ap; printf("%d %d %d\n", x.a, x.b, both.n); ap = aq; x = ap;
    pair *p = &x; *p = aq; printf("%d %d\n", x.a, p->b);
    atomic_store(&ap, two(7)); x = atomic_load(&ap); printf("%d %d %d\n", x.a, x.b, (int) sizeof ap); return 0; }
""",
    "attributes in brackets": r"""
#include <stdio.h>
struct [[gnu::packed]] packed { char c; int i; }; struct plain { char c; [[gnu::aligned(16)]] int i; };
enum e { A [[deprecated("old")]] = 2, B [[maybe_unused]] }; typedef int word [[gnu::aligned(8)]];
[[nodiscard("x[]")]] static int one(void) { return 1; } [[]] static int two([[__maybe_unused__]] char *p, [[maybe_unused]] int n)
{ return n; }
[[__noreturn__]] static void leave(int code);
[ [ gnu::noinline, clang::nothing(1, (2), [3]) ] ] static int twice(int x) { [[maybe_unused]] int y [[gnu::unused]] = x; return x + y; }
static int kind(int x) { int n = 0; switch (x) { case 1: n++; [[fallthrough]]; case 2: n += 2; [[__fallthrough__]]; default: n += 4; }
    return n; }
static void leave(int code) { printf("left\n"); __builtin_exit(code); }
static int cleaned; static void clean(int *p) { cleaned += *p; }
int main(void) { struct packed p = {1, 2}; struct plain q = {1, 2}; int a[] = {1, 2, 3}; int index[] = {2};
    { [[gnu::cleanup(clean)]] int k = 7; (void) k; }
    printf("%d %d %d %d\n", (int) sizeof p, (int) sizeof q, (int) _Alignof(word), a[index[0]]);
    printf("%d %d %d %d %d\n", one(), two(0, 5), twice(3), A + B, cleaned);
    for (int i = 0; i < 4; i++) [[]] { printf("%d ", kind(i)); } leave(p.i + q.i); }
""",
    "old-style parameters": r"""
#include <stdio.h>
typedef float F; struct P { float x; };
int f(char, short, float); int f(c, s, x) char c; short s; float x; { return c + s + (int) x; }
int g(double); int g(x) F x; { x *= 3; return (int) x; }
double h(a, x, p, y) int a; register float x; struct P p; float y; { float *q = &y; return a + x + p.x + *q; }
int main(void){ struct P p = { 2.5f }; printf("%d %d %g\n", f(300, 70000, 3.9), g(1.1), h(1, 2.25f, p, 0.1f));
    return 0; }
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_does_what_the_plain_program_does(name: str, tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(PROGRAMS[name])
    plain = tmp_path / "plain"
    subprocess.run(["gcc", "-w", "-fwrapv", str(source), "-o", str(plain), "-lm"], check=True, timeout=60)
    expected = subprocess.run([str(plain)], capture_output=True, timeout=60, check=False, stdin=subprocess.DEVNULL)
    image = corpus.build("native", [source], cflags=["-w"])
    assert not image.notes
    with corpus.target_of("native", image) as target:
        done = target.run(Run(1, b""))
    assert done.verdict in (Verdict.RETURN, Verdict.EXIT)
    assert (done.output, done.code & 0xFF) == (expected.stdout, expected.returncode)


@pytest.mark.parametrize("board", ["native", "mps2-an385"])
def test_main_gives_0_at_its_end_without_probes_too(board: str, tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text('#include <stdio.h>\nint main(void) { __label__ end; goto end; end: printf("of six\\n"); }\n')
    image = corpus.build(board, [source], cflags=["-w"])
    assert [what for what, *_ in image.notes] == ["function 'main' is not instrumented: local labels"]
    with corpus.target_of(board, image) as target:
        done = target.run(Run(1, b""))
    assert (done.verdict, done.code, done.output.split()) == (Verdict.RETURN, 0, [b"of", b"six"])
