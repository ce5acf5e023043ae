/* bytes: 1; constructs: block-scope tags, enumerators, typedefs and externs of one name in several blocks; grouped-labels: no; folded-conditional: yes */
#include <stdio.h>
#include <string.h>
#include "score.h"

int N = 5, shared = 7;
struct s { int a; };
typedef unsigned short T;

static int tags(int x)
{
    struct s outer = { x };
    int r = 0;
    {
        struct s { char c; struct s *next; } s = { 3 };
        s.next = &s;
        r += s.next->c + (int)(sizeof(struct s) > sizeof outer);
    }
    {
        struct s { int a, b; } s = { .b = x };
        if (s.b > 100)
            r += 1000;
    }
    for (struct { int i; char step; } k = { 0, 2 }; k.i < 3; k.i += k.step) {
        struct { int a; struct { int b; } n; union { int u; struct { short low, high; } half; }; } v = { 1, { 2 }, { 3 } };
        r += v.a + v.n.b + v.half.low;
    }
    struct m { enum { OFF, ON } k; union { int i; float f; } u; } m, *pm = &m;
    m.k = ON;
    pm->u.i = x;
    if (m.k == ON && m.u.i < 10)
        r += 10000;
    return r + outer.a;
}

static int constants(int x)
{
    int r = N;
    {
        enum { N = 3 };
        char bytes[N];
        r += N * 10 + (int)sizeof bytes;
        int aligned __attribute__((aligned(8 * N + 8))) = x;
        int *p = &aligned;
        r += *p;
    }
    {
        enum e { N = 40, M = N + 1 } e = M;
        switch (x) {
        case N:
            r += 5;
            break;
        case M:
            r += e;
            break;
        }
    }
    return r + N * 100;
}

static int typedefs(int x)
{
    typedef unsigned char T;
    static int kept = (T) 511;
    struct pair { T a; int b; } v = { 3, 4 };
    int list[2] = { (T) 300, (T) 2 };
    char buffer[sizeof(T) * 3];
    typedef struct { T t[2]; } box, *boxes;
    box b = { { 1, 2 } };
    boxes all = &b;
    {
        typedef int T;
        T wide = 70000;
        kept += wide == 70000;
    }
    switch (kept) {
    case (T) 511:
        return -1;
    }
    if ((T) (x * 3) == 30)
        list[0]++;
    return v.a + list[0] + (int) sizeof buffer + kept + all->t[1];
}

static int linkage(int x)
{
    int r = 0;
    { extern int later; int helper(int); r += later + helper(x); }
    { int later = 4, helper = x; r += later + helper; }
    { extern int shared; r += shared; }
    {
        typedef int function(int);
        function helper;
        r += helper(1);
        { int shared = helper(2); r += shared; }
    }
    return r;
}

#define MAX(a, b) ({ __auto_type _a = (a); __auto_type _b = (b); _a > _b ? _a : _b; })

static int expressions(int x, int sc_m, int x_2)
{
    int r = (int) sizeof(struct { char a; char b; }) + (struct { int a, b; }) { 1, x }.b;
    int *p = &x;
    r += MAX(x, MAX(20, x - 100));
    { int x = 5; int *q = &x; r += *q + *p + x_2 + sc_m; }
    return r + ({ enum { A = 6 }; struct local { int v; } l = { A }; l.v; });
}

static int parameters(struct { int a; } *p, enum { ONE = 1, TWO } e)
{
    struct { struct pair { char a, b; } q; } *hidden = (void *) p;
    if (sizeof(struct pair { int a; }) == 2)
        return hidden->q.a;
    return p->a + (e == TWO) + (int) sizeof(struct pair);
}

static int old_style(a, p) enum choice { LEFT = 3, RIGHT } a; struct { int v; } *p;
{
    struct pair { enum choice v; } c = { RIGHT };
    { int a = 5; p->v += a; }
    return a == LEFT ? p->v : (int) c.v;
}

static int unevaluated(int x)
{
    typedef int T;
    int size = (int) sizeof(({ struct q { char a[3]; } v = { { 1 } }; v; }));
    __typeof__(({ typedef unsigned char T; T c = 1; c; })) narrow = (T) x * 3;
    int first = ({ int t = x; struct q { int z; } l = { t + 1 }; l.z; });
    return size + narrow + first;
}

static int unnamed(int a, char *) { return a + 1; }

int helper(int x) { return x == 77 ? 1 : 2; }

int main(int argc, char **)
{
    unsigned char x;
    int main_count = argc > 1000 ? main(argc, 0) : 0;
    SYM_U8(x);
    printf("%d %d %d ", tags(x), constants(x), typedefs(x));
    printf("%d %d %d\n", linkage(x), expressions(x, 1, 2), unnamed(x, "") + main_count);
    int number = x;
    printf("%d ", parameters((void *) &number, 2));
    printf("%d %d\n", old_style(x & 3, (void *) &number), unevaluated(x));
    printf("%d %s\n", (int) sizeof(T), strcmp(__func__, "") ? "named" : "");
    return 0;
}

int later = 9;
