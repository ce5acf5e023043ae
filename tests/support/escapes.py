"""Ways by which a value may escape what a campaign can follow: each is a channel into which a program gives a number
and takes one out, somewhere between its other statements. In some the value is lost (an environment variable), in some
it is followed (a union): which of them is for the campaign to say.

`score.h` and B, which marks a decision, are known to the texts; PLAIN is defined in the program for brute force.
"""

from __future__ import annotations

from dataclasses import dataclass

NATIVE = ("native",)
ARM = ("mps2-an385",)


@dataclass(frozen=True)
class Escape:
    """`text` stands before main (with probes), `other` in a file without probes; `give` is a statement with the
    number `{}`, `take` an expression; `begin` the first statement of main."""

    give: str = "box = {};"
    take: str = "box"
    text: str = ""
    other: str = ""
    begin: str = ""
    boards: tuple[str, ...] = ("native", "mps2-an385")


def _function(attribute: str, start: str = "") -> str:
    return f"static int box;\n{attribute} int through(void) {{ {start} return box > 40 ? 3 : 100; }}\n"


def _arm(parameter: str, plain: str, assembly: str) -> str:
    """A function of one instruction, and what it is for brute force on this machine."""
    return (
        f"static int through({parameter}) {{\n    int r;\n#ifdef PLAIN\n    {plain}\n#else\n"
        f"    __asm__ volatile({assembly});\n#endif\n    return r;\n}}\n"
    )


BOX = "static int box;\n"
POINTED = "static int box;\nint *known = &box;\n"
HOOKS = "static int box, result;\n"

# What other files, and functions that must stay as they are, do with what they can reach.
OPAQUE = {
    "an argument": Escape(
        take="clip(box)", text=f"{BOX}int clip(int v);\n", other="int clip(int v) { return v > 40 ? 200 : 1; }\n"
    ),
    "a pointer": Escape(
        take="clip(&box)",
        text=f"{BOX}int clip(int *p);\n",
        other="int clip(int *p) { return *p > 40 ? 200 : 1; }\n",
    ),
    "written through a pointer": Escape(
        give="box = {}; clip(&box);",
        text=f"{BOX}void clip(int *p);\n",
        other="void clip(int *p) { if (*p > 40) *p = 100; }\n",
    ),
    "a pointer in a struct": Escape(
        give="box = {}; boxes.at = &box;",
        take="clip(&boxes)",
        text=f"{BOX}static struct {{ int n, *at; }} boxes = {{0, &box}};\nint clip(void *p);\n",
        other="struct boxes { int n, *at; };\nint clip(struct boxes *p) { return *p->at > 40 ? 200 : 1; }\n",
    ),
    "a list": Escape(
        take="clip(&first)",
        text="struct node { struct node *next; int pad[400], v; };\nstatic struct node last, middle = {&last}, first = {&middle};\n"
        "#define box last.v\nint clip(void *p);\n",
        other="struct node { struct node *next; int pad[400], v; };\n"
        "int clip(struct node *p) { while (p->next) p = p->next; return p->v > 40 ? 200 : 1; }\n",
    ),
    "a pointer in a packed struct": Escape(
        take="clip(&odd)",
        text=f"{BOX}static struct {{ char c; int *at; }} __attribute__((packed)) odd = {{1, &box}};\nint clip(void *p);\n",
        other="struct odd { char c; int *at; } __attribute__((packed));\n"
        "int clip(struct odd *p) { return *p->at > 40 ? 200 : 1; }\n",
    ),
    "a pointer kept as bytes": Escape(
        take="clip(bytes)",
        begin="{ int *at = &box; __builtin_memcpy(bytes + 3, &at, sizeof at); }",
        text=f"{BOX}static unsigned char bytes[20];\nint clip(void *p);\n",
        other="int clip(unsigned char *p) { int *at; __builtin_memcpy(&at, p + 3, sizeof at); return *at > 40 ? 200 : 1; }\n",
    ),
    "a pointer to the end": Escape(
        take="how(row + 4)",
        text="static int row[4];\n#define box row[3]\nint clip(int *p);\nstatic int (*volatile how)(int *) = clip;\n",
        other="int clip(int *p) { return p[-1] > 40 ? 200 : 1; }\n",
    ),
    "a pointer in a struct, by pointer": Escape(
        take="how(&boxes)",
        give="box = {}; boxes.at = &box;",
        text=f"{BOX}static struct {{ int n, *at; }} boxes = {{0, &box}};\nint clip(void *p);\n"
        "static int (*volatile how)(void *) = clip;\n",
        other="struct boxes { int n, *at; };\n"
        "int clip(struct boxes *p) { int r = p->at && *p->at > 40 ? 200 : 1; p->at = 0; return r; }\n",
    ),
    "far behind a pointer": Escape(
        give="box[600] = {};",
        take="clip(box)",
        text="static int box[700];\nint clip(int *p);\n",
        other="int clip(int *p) { return p[600] > 40 ? 200 : 1; }\n",
    ),
    "a pointer kept": Escape(
        take="clip()",
        begin="keep(&box);",
        text=f"{BOX}void keep(int *p);\nint clip(void);\n",
        other="static int *kept;\nvoid keep(int *p) { kept = p; }\nint clip(void) { return kept && *kept > 40 ? 200 : 1; }\n",
    ),
    "a pointer kept that is written through": Escape(
        take="box",
        give="box = {}; tick();",
        begin="keep(&box);",
        text=f"{BOX}void keep(int *p);\nvoid tick(void);\n",
        other="static int *kept;\nvoid keep(int *p) { kept = p; }\nvoid tick(void) { if (kept && *kept > 40) *kept = 7; }\n",
    ),
    "a pointer given back": Escape(
        give="*lent() = {};",
        take="clip()",
        text="int *lent(void);\nint clip(void);\n",
        other="static int box;\nint *lent(void) { return &box; }\nint clip(void) { return box > 40 ? 200 : 1; }\n",
    ),
    "a variable of theirs": Escape(
        give="theirs = {};",
        take="clip()",
        text="extern int theirs;\nint clip(void);\n",
        other="int theirs;\nint clip(void) { return theirs > 40 ? 200 : 1; }\n",
    ),
    "a variable of ours": Escape(
        give="ours = {};",
        take="clip()",
        text="int ours;\nint clip(void);\n",
        other="extern int ours;\nint clip(void) { return ours > 40 ? 200 : 1; }\n",
    ),
    "a pointer of ours": Escape(
        take="clip()",
        text=f"{POINTED}int clip(void);\n",
        other="extern int *known;\nint clip(void) { return *known > 40 ? 200 : 1; }\n",
    ),
    "a pointer to a pointer of ours": Escape(
        take="clip()",
        text=f"{BOX}static int *at = &box;\nint **known = &at;\nint clip(void);\n",
        other="extern int **known;\nint clip(void) { return **known > 40 ? 200 : 1; }\n",
    ),
    "a function of ours": Escape(
        take="clip()",
        text=f"{BOX}int get(void) {{ return box; }}\nint clip(void);\n",
        other="int get(void);\nint clip(void) { return get() > 40 ? 200 : 1; }\n",
    ),
    "a function of ours that writes": Escape(
        give="box = {}; clip();",
        take="result",
        text=f"{HOOKS}void put(int v) {{ result = v; }}\nint get(void) {{ return box; }}\nvoid clip(void);\n",
        other="void put(int v); int get(void);\nvoid clip(void) { put(get() > 40 ? 200 : 1); }\n",
    ),
    "a function given to them": Escape(
        take="clip()",
        begin="hook(get);",
        text=f"{BOX}static int get(void) {{ return box; }}\nvoid hook(int (*f)(void));\nint clip(void);\n",
        other="static int (*hooked)(void);\nvoid hook(int (*f)(void)) { hooked = f; }\n"
        "int clip(void) { return hooked && hooked() > 40 ? 200 : 1; }\n",
    ),
    "a callback that decides": Escape(
        give="box = {}; clip(&box);",
        take="result",
        text=f"{HOOKS}void seen(int *p) {{ if (B(*p > 40)) result = 200; else result = 1; }}\nvoid clip(int *p);\n",
        other="void seen(int *p);\nvoid clip(int *p) { seen(p); }\n",
    ),
    "a function of theirs by pointer": Escape(
        give="box = {}; how = &clip;",
        take="how(box)",
        text=f"{BOX}int clip(int v);\nstatic int (*how)(int) = clip;\n",
        other="int clip(int v) { return v > 40 ? 200 : 1; }\n",
    ),
    "a struct by value": Escape(
        take="clip(boxes)",
        text="static struct boxes { int v, w[9]; } boxes;\n#define box boxes.v\nint clip(struct boxes b);\n",
        other="struct boxes { int v, w[9]; };\nint clip(struct boxes b) { return b.v > 40 ? 200 : 1; }\n",
    ),
    "a pointer in a struct by value": Escape(
        take="clip(boxes)",
        text=f"{BOX}static struct boxes {{ int *v, w[9]; }} boxes = {{&box}};\nint clip(struct boxes b);\n",
        other="struct boxes { int *v, w[9]; };\nint clip(struct boxes b) { return *b.v > 40 ? 200 : 1; }\n",
    ),
    "a number that is an address": Escape(
        take="clip((__UINTPTR_TYPE__) &box)",
        text=f"{BOX}int clip(__UINTPTR_TYPE__ at);\n",
        other="int clip(__UINTPTR_TYPE__ at) { return *(int *) at > 40 ? 200 : 1; }\n",
    ),
    "a struct returned": Escape(
        take="clip(box).v",
        text=f"{BOX}struct boxes {{ int v, w[9]; }};\nstruct boxes clip(int v);\n",
        other="struct boxes { int v, w[9]; };\nstruct boxes clip(int v) { struct boxes b = {v > 40 ? 200 : 1}; return b; }\n",
    ),
    "arguments of ...": Escape(
        take="clip(1, box)",
        text=f"{BOX}int clip(int n, ...);\n",
        other="#include <stdarg.h>\nint clip(int n, ...) { va_list l; int v; va_start(l, n); v = va_arg(l, int); va_end(l);"
        " return v > 40 ? 200 : 1; }\n",
    ),
    "a block of the heap": Escape(
        give="if (block) *block = {};",
        take="clip()",
        begin="keep(block = malloc(sizeof *block)); if (block) *block = 0;",
        text="#include <stdlib.h>\nstatic int *block;\nvoid keep(int *p);\nint clip(void);\n",
        other="static int *kept;\nvoid keep(int *p) { kept = p; }\nint clip(void) { return kept && *kept > 40 ? 200 : 1; }\n",
    ),
    "dead frames": Escape(
        give="deep({});",
        take="clip()",
        text="static int deep(int v) { volatile int frame[20]; frame[3] = v; return frame[3]; }\nint clip(void);\n",
        other="int clip(void) { volatile int frame[30]; frame[5] = 3; return frame[5]; }\n",
    ),
}
LEFT = {
    "__label__": Escape(take="through()", text=_function("static", "__label__ l; goto l; l: ;")),
    "__label__ that writes": Escape(
        give="box = {}; through();",
        text=f"{BOX}static void through(void) {{ __label__ l; goto l; l: if (box > 40) box = 9; }}\n",
    ),
    "a vector": Escape(
        take="through()",
        text=f"{BOX}typedef int four __attribute__((vector_size(16)));\n"
        "static int through(void) { four a = {box, 1, 2, 3}, b = a + a; return b[0] > 80; }\n",
    ),
    "behind a pointer it names": Escape(
        take="through()",
        text=f"{BOX}static int *at = &box;\nstatic int through(void) {{ __label__ l; goto l; l: return *at > 40; }}\n",
    ),
    "in what it calls": Escape(
        take="through()",
        text=f"{BOX}static int get(void) {{ return box; }}\nstatic int through(void) {{ __label__ l; goto l; l: return get() > 40; }}\n",
    ),
    "a name it shares": Escape(
        take="through()",
        text=f"{BOX}#define HIDDEN bo##x\nstatic int through(void) {{ __label__ l; goto l; l: return HIDDEN > 40; }}\n",
    ),
    "a static variable of its own": Escape(
        give="keep({});",
        take="keep(-1)",
        text="static int keep(int v) { __label__ l; static int kept; goto l; l: if (v >= 0) kept = v; return kept > 40; }\n",
    ),
    "called by a pointer": Escape(
        take="how(&boxes)",
        text=f"{BOX}static struct boxes {{ int n, *at; }} boxes = {{0, &box}};\n"
        "static int through(struct boxes *p) { __label__ l; goto l; l: return *p->at > 40; }\n"
        "static int (*volatile how)(struct boxes *) = through;\n",
    ),
}
# Inline assembly. `box` may be read by operand, by address, or by name.
ASSEMBLY = {
    "by value": Escape(
        take="through(box)",
        text=f'{BOX}static int through(int v) {{ int r; __asm__("mov %1, %0" : "=r"(r) : "r"(v)); return r; }}\n',
        boards=NATIVE,
    ),
    "by address, with a clobber": Escape(
        take="through(&box)",
        text=f'{BOX}static int through(int *p) {{ int r; __asm__ volatile("movl (%1), %0" : "=r"(r) : "r"(p) : "memory"); return r; }}\n',
        boards=NATIVE,
    ),
    "by address": Escape(
        take="through(&box)",
        text=f'{BOX}static int through(int *p) {{ int r; __asm__ volatile("movl (%1), %0" : "=r"(r) : "r"(p)); return r; }}\n',
        boards=NATIVE,
    ),
    "by name": Escape(
        take="through()",
        text='int box;\nstatic int through(void) { int r; __asm__ volatile("movl box, %0" : "=r"(r)); return r; }\n',
        boards=NATIVE,
    ),
    "by name, with a clobber": Escape(
        take="through()",
        text='int box;\nstatic int through(void) { int r; __asm__ volatile("movl box, %0" : "=r"(r) : : "memory"); return r; }\n',
        boards=NATIVE,
    ),
    "an object": Escape(
        take="through()",
        text=f'{BOX}static int through(void) {{ int r; __asm__ volatile("movl %1, %0" : "=r"(r) : "m"(box)); return r; }}\n',
        boards=NATIVE,
    ),
    "written by address": Escape(
        give="box = {}; through(&box);",
        text=f'{BOX}static void through(int *p) {{ __asm__ volatile("andl $64, (%0)" : : "r"(p) : "memory"); }}\n',
        boards=NATIVE,
    ),
    "written by name without operands": Escape(
        give="box = {}; through();",
        text='int box;\nstatic void through(void) { __asm__("andl $64, box"); }\n',
        boards=NATIVE,
    ),
    "copied by name without operands": Escape(
        give="box = {}; through();",
        take="other",
        text='int box, other;\nstatic void through(void) { __asm__("pushq %rax\\n movl box, %eax\\n movl %eax, other\\n popq %rax"); }\n',
        boards=NATIVE,
    ),
    "a clobber that copies": Escape(
        give="box = {}; through(&box);",
        take="other",
        text='int box, other;\nstatic void through(int *p) { __asm__ volatile("movl (%0), %%eax\\n movl %%eax, other" : : "r"(p) : "memory", "eax"); }\n',
        boards=NATIVE,
    ),
    "by value on a Cortex-M": Escape(
        take="through(box)", text=BOX + _arm("int v", "r = v;", '"mov %0, %1" : "=r"(r) : "r"(v)'), boards=ARM
    ),
    "by address on a Cortex-M": Escape(
        take="through(&box)", text=BOX + _arm("int *p", "r = *p;", '"ldr %0, [%1]" : "=r"(r) : "r"(p)'), boards=ARM
    ),
    "in a status register": Escape(
        give="set({} > 40 ? 0xE0 : 0);",
        take="through(0)",
        text="static int kept;\n"
        + _arm("int v", "kept = v; r = 0;", '"msr basepri, %1\\n mov %0, #0" : "=r"(r) : "r"(v)').replace(
            "through", "set"
        )
        + _arm("int v", "r = kept;", '"mrs %0, basepri" : "=r"(r)'),
        boards=ARM,
    ),
    "in a status register, by name": Escape(
        give="set({} > 40 ? 0xE0 : 0);",
        take="through(0)",
        text="static int kept;\n"
        + _arm("int v", "kept = v; r = 0;", '"msr basepri, %0" : : "r"(v)')
        .replace("through", "set")
        .replace("return r", "return 0")
        + _arm("int v", "r = kept;", '"mrs %0, basepri" : "=r"(r)'),
        boards=ARM,
    ),
}
# The C library keeps things, and calls back.
LIBRARY = {
    "srand": Escape(
        give="srand({} > 40);", take="(rand() & 0xff)", begin="srand(1);", text="#include <stdlib.h>\n", boards=NATIVE
    ),
    "the environment": Escape(
        give='buf[0] = (char) ({} > 40 ? 66 : 65); setenv("ESCAPE", buf, 1);',
        take='(getenv("ESCAPE") ? getenv("ESCAPE")[0] : 0)',
        text="#include <stdlib.h>\nstatic char buf[4];\n",
        boards=NATIVE,
    ),
    "putenv": Escape(
        give="buf[7] = (char) ({} | 1);",
        take='(unsigned char) (getenv("ESCAPE") ? getenv("ESCAPE")[0] : 0)',
        begin="putenv(buf);",
        text='#include <stdlib.h>\nstatic char buf[9] = "ESCAPE=A";\n',
        boards=NATIVE,
    ),
    "a file": Escape(
        give="if (file) {{ rewind(file); fputc({}, file); }}",
        take="(file ? (rewind(file), fgetc(file)) : 0)",
        begin="file = tmpfile();",
        text="#include <stdio.h>\nstatic FILE *file;\n",
        boards=NATIVE,
    ),
    "a file, formatted": Escape(
        give='if (file) {{ rewind(file); fprintf(file, "%03d ", {}); }}',
        take='(file ? (rewind(file), fscanf(file, "%d", &box), box) : 0)',
        begin="file = tmpfile();",
        text="#include <stdio.h>\nstatic FILE *file;\nstatic int box;\n",
        boards=NATIVE,
    ),
    "where a file stands": Escape(
        give="if (file) fseek(file, {}, SEEK_SET);",
        take="(file ? (int) ftell(file) : 0)",
        begin="file = tmpfile();",
        text="#include <stdio.h>\nstatic FILE *file;\n",
        boards=NATIVE,
    ),
    "a pipe": Escape(
        give="byte = (unsigned char) {}; write(ends[1], &byte, 1);",
        take="(read(ends[0], &byte, 1) == 1 ? byte : 0)",
        begin="if (pipe(ends) || fcntl(ends[0], F_SETFL, O_NONBLOCK)) return 77;",
        text="#include <unistd.h>\n#include <fcntl.h>\nstatic int ends[2];\nstatic unsigned char byte;\n",
        boards=NATIVE,
    ),
    "a stream in memory": Escape(
        give='if (file) {{ rewind(file); fprintf(file, "%c", {} | 1); fflush(file); }}',
        take="(unsigned char) buf[0]",
        begin='file = fmemopen(buf, sizeof buf, "w");',
        text="#include <stdio.h>\nstatic FILE *file;\nstatic char buf[20];\n",
        boards=NATIVE,
    ),
    "a buffer of stdout's": Escape(
        give='printf("%c", {} | 1);',
        take="(unsigned char) buf[0]",
        begin="setvbuf(stdout, buf, _IOFBF, sizeof buf);",
        text="#include <stdio.h>\nstatic char buf[4096];\n",
        boards=NATIVE,
    ),
    "what printf returns": Escape(take='printf("%d", box)', text=f"#include <stdio.h>\n{BOX}"),
    "%n": Escape(give='printf("%d%n", {}, &box);', text=f"#include <stdio.h>\n{BOX}", boards=NATIVE),
    "snprintf": Escape(
        give='snprintf(buf, sizeof buf, "%d", {});',
        take="atoi(buf)",
        text="#include <stdio.h>\n#include <stdlib.h>\nstatic char buf[20];\n",
    ),
    "snprintf of a float": Escape(
        give='snprintf(buf, sizeof buf, "%.0f", (double) ({}));',
        take="atoi(buf)",
        text="#include <stdio.h>\n#include <stdlib.h>\nstatic char buf[20];\n",
    ),
    "strtod": Escape(
        give="buf[0] = (char) (48 + {} % 10);",
        take="(int) strtod(buf, 0)",
        text="#include <stdlib.h>\nstatic char buf[20];\n",
    ),
    "atof": Escape(
        give="buf[0] = (char) (48 + {} % 10);",
        take="(int) atof(buf)",
        text="#include <stdlib.h>\nstatic char buf[20];\n",
    ),
    "the lines of a text": Escape(
        give="buf[0] = (char) ({} > 40 ? 44 : 65);",
        take='(strtok(buf, ",") ? 3 : 9)',
        text="#include <string.h>\nstatic char buf[20];\n",
    ),
    "errno": Escape(
        give="buf[0] = (char) ({} > 40 ? 47 : 65); remove(buf);",
        take="errno",
        begin="errno = 0;",
        text="#include <stdio.h>\n#include <errno.h>\nstatic char buf[300];\n",
        boards=NATIVE,
    ),
    "what raise does": Escape(
        give="raise({} > 40 ? SIGUSR1 : SIGUSR2);",
        take="result",
        begin="signal(SIGUSR1, on_signal); signal(SIGUSR2, on_signal);",
        text=f"#include <signal.h>\n{HOOKS}static void on_signal(int n) {{ result = n; }}\n",
        boards=NATIVE,
    ),
    "a signal's number": Escape(
        give="box = {} > 40; raise(SIGUSR1 + 2 * box);",
        take="result",
        begin="signal(SIGUSR1, on_signal); signal(SIGUSR2, on_signal);",
        text=f"#include <signal.h>\n{HOOKS}static void on_signal(int n) {{ result = n; }}\n",
        boards=NATIVE,
    ),
    "a signal's handler": Escape(
        give="box = {}; raise(SIGUSR1);",
        take="result",
        begin="signal(SIGUSR1, on_signal);",
        text=f"#include <signal.h>\n{HOOKS}static void on_signal(int n) {{ (void) n; if (B(box > 40)) result = 100; else result = box; }}\n",
        boards=NATIVE,
    ),
    "which signals are blocked": Escape(
        give="sigemptyset(&set); sigaddset(&set, {} > 40 ? SIGUSR1 : SIGUSR2); sigprocmask(SIG_SETMASK, &set, 0);",
        take="(sigprocmask(SIG_SETMASK, 0, &set), sigismember(&set, SIGUSR1))",
        text="#include <signal.h>\nstatic sigset_t set;\n",
        boards=NATIVE,
    ),
    "sorted": Escape(
        give="row[0] = {}; row[1] = 50; qsort(row, 2, sizeof *row, order);",
        take="row[0]",
        text="#include <stdlib.h>\nstatic int row[2];\nstatic int order(const void *a, const void *b)"
        " { int d = *(const int *) a - *(const int *) b; return d; }\n",
    ),
    "searched": Escape(
        give="row[1] = {};",
        take="(lfind(&key, row, &many, sizeof *row, same) ? 3 : 5)",
        text="#include <search.h>\nstatic int row[2], key = 40;\nstatic size_t many = 2;\n"
        "static int same(const void *a, const void *b) { return *(const int *) a != *(const int *) b; }\n",
        boards=NATIVE,
    ),
    "a tree": Escape(
        give="box = {}; tsearch(&box, &root, order);",
        take="(root ? **(int **) root : 0)",
        text="#include <search.h>\nstatic int box;\nstatic void *root;\nstatic int order(const void *a, const void *b)"
        " { return *(const int *) a - *(const int *) b; }\n",
        boards=NATIVE,
    ),
    "at exit": Escape(
        take="box",
        begin="atexit(last);",
        text="#include <stdlib.h>\nstatic int box;\nstatic void last(void) { if (B(box > 40)) box = 1; }\n",
    ),
    "what exit was given": Escape(
        give="if (B({} > 100)) exit({} & 63);",
        take="1",
        begin="on_exit(last, 0);",
        text="#define _GNU_SOURCE\n#include <stdlib.h>\n"
        "static void last(int status, void *p) { (void) p; B(status > 40) ? (void) 0 : (void) 1; }\n",
        boards=NATIVE,
    ),
    "usleep and then a clock": Escape(give="usleep({} & 1);", take="2", text="#include <unistd.h>\n", boards=NATIVE),
    "descriptors": Escape(
        give="dup2({} > 40 ? 0 : ends[1], ends[0]);",
        take="(lseek(ends[0], 0, SEEK_CUR) == 5)",
        begin="{ FILE *f = tmpfile(); ends[1] = dup(fileno(f)); ends[0] = dup(0); lseek(ends[1], 5, SEEK_SET); }",
        text="#include <stdio.h>\n#include <unistd.h>\nstatic int ends[2];\n",
        boards=NATIVE,
    ),
    "sin": Escape(take="(int) (100 * sin((double) box))", text=f"#include <math.h>\n{BOX}", boards=NATIVE),
    "strerror": Escape(take="strerror(box > 40 ? 2 : 1)[0]", text=f"#include <string.h>\n{BOX}", boards=NATIVE),
    "sscanf of a float": Escape(
        give="buf[0] = (char) (48 + {} % 10);",
        take='(sscanf(buf, "%f", &number), (int) number)',
        text="#include <stdio.h>\nstatic char buf[20];\nstatic float number;\n",
        boards=NATIVE,
    ),
    "a function of the library by pointer": Escape(
        give="box = {};", take="how(box - 100)", text=f"#include <stdlib.h>\n{BOX}static int (*how)(int) = abs;\n"
    ),
    "fenv": Escape(
        give="fesetround({} > 40 ? FE_UPWARD : FE_DOWNWARD);",
        take="(fegetround() == FE_UPWARD)",
        begin="fesetround(FE_TONEAREST);",
        text="#include <fenv.h>\n",
        boards=NATIVE,
    ),
}
# What C itself can do.
LANGUAGE = {
    "longjmp's value": Escape(
        give="if (!(box = setjmp(back))) longjmp(back, {} | 1);",
        text=f"#include <setjmp.h>\nstatic jmp_buf back;\n{BOX}",
    ),
    "longjmp over frames": Escape(
        give="if (!setjmp(back)) leap({});",
        text=f"#include <setjmp.h>\nstatic jmp_buf back;\n{BOX}static void leap(int v) {{ if (B(v > 40)) {{ box = v; longjmp(back, 1); }} }}\n",
    ),
    "a union": Escape(
        give="both.whole = {} * 257;",
        take="both.part[1]",
        text="static union { int whole; unsigned char part[4]; } both;\n",
    ),
    "a union with a float": Escape(
        give="both.f = (float) ({});", take="(int) (both.i >> 20)", text="static union { float f; unsigned i; } both;\n"
    ),
    "a volatile object": Escape(text="static volatile int box;\n"),
    "a volatile array": Escape(give="boxes[{} & 3] = {};", take="boxes[2]", text="static volatile int boxes[4];\n"),
    "a volatile bit-field": Escape(
        give="boxes.f = {} & 7;", take="boxes.f", text="static volatile struct { unsigned e : 3, f : 3; } boxes;\n"
    ),
    "a bit-field": Escape(
        give="boxes.f = {} & 7;", take="boxes.f", text="static struct { unsigned e : 3, f : 3; } boxes;\n"
    ),
    "an odd bit-field": Escape(
        give="boxes.f = {};",
        take="boxes.f",
        text="static struct { unsigned char a; unsigned f : 20; } __attribute__((packed)) boxes;\n",
    ),
    "functions in a table": Escape(
        take="table[box > 40](box)",
        text=f"{BOX}static int low(int v) {{ return B(v > 7) ? 3 : 4; }}\nstatic int high(int v) {{ return B(v > 100) ? 5 : 6; }}\n"
        "static int (*table[2])(int) = {low, high};\n",
    ),
    "functions in a table at an index": Escape(
        take="table[box & 3]()",
        text=f"{BOX}static int f0(void) {{ return 1; }}\nstatic int f1(void) {{ return 8; }}\n"
        "static int (*const table[4])(void) = {f0, f1, f1, f0};\n",
    ),
    "a function chosen": Escape(
        take="(box > 40 ? low : high)(3)",
        text=f"{BOX}static int low(int v) {{ return v; }}\nstatic int high(int v) {{ return v + 40; }}\n",
    ),
    "a struct from a table": Escape(
        give="one = rows[{} & 3];",
        take="one.v",
        text="static struct { int v, w[5]; } one, rows[4] = {{1, {0}}, {8, {0}}, {41, {0}}, {200, {0}}};\n",
    ),
    "a struct into a table": Escape(
        give="one.v = 100; rows[{} & 3] = one;", take="rows[2].v", text="static struct { int v, w[5]; } one, rows[4];\n"
    ),
    "a pointer chosen": Escape(
        give="at = {} > 40 ? &one : &two; *at = 100;", take="one", text="static int one, two, *at = &one;\n"
    ),
    "a pointer computed": Escape(
        give="at = row + ({} & 7);", take="*at", text="static int row[8] = {0, 8, 41, 3, 2, 201, 7, 0}, *at = row;\n"
    ),
    "the distance of pointers": Escape(
        give="at = row + ({} & 7);", take="(int) (at - row)", text="static int row[8], *at = row;\n"
    ),
    "a pointer in a number": Escape(
        give="number = (__UINTPTR_TYPE__) (row + ({} & 7));",
        take="*(int *) number",
        begin="number = (__UINTPTR_TYPE__) row;",
        text="static int row[8] = {0, 8, 41, 3, 2, 201, 7, 0};\nstatic __UINTPTR_TYPE__ number;\n",
    ),
    "a long table": Escape(
        give="table[{} * 9 % 5000] = 100;", take="table[900]", text="static int table[5000];\n", boards=NATIVE
    ),
    "read from a long table": Escape(
        give="box = {};",
        take="table[box * 9]",
        begin="table[900] = 50;",
        text=f"{BOX}static short table[5000];\n",
        boards=NATIVE,
    ),
    "long double": Escape(give="box = (long double) {} * 1.5L;", take="(int) box", text="static long double box;\n"),
    "a double": Escape(give="box = {} * 1.5;", take="(int) box", text="static double box;\n"),
    "a float too large": Escape(
        give="box = {} * 1e20f;",
        take="(box > 1e21f ? (int) (unsigned char) (box / 1e20f) : 3)",
        text="static float box;\n",
    ),
    "_Complex": Escape(give="box = {};", take="(int) box", text="static double _Complex box;\n", boards=NATIVE),
    "__int128": Escape(give="box = {};", take="(int) box", text="static __int128 box;\n", boards=NATIVE),
    "_Atomic": Escape(give="box = 0; box += {};", take="box", text="static _Atomic int box;\n"),
    "__atomic": Escape(
        give="__atomic_store_n(&box, {}, __ATOMIC_SEQ_CST);", take="__atomic_load_n(&box, __ATOMIC_SEQ_CST)", text=BOX
    ),
    "__sync": Escape(give="box = 0; __sync_fetch_and_add(&box, {});", take="__sync_fetch_and_or(&box, 0)", text=BOX),
    "an array of variable length": Escape(
        give="box = sized({});",
        text=f"{BOX}static int sized(int n) {{ char a[n + 1]; a[n] = 1; return (int) sizeof a; }}\n",
    ),
    "variable length inside a struct": Escape(
        give="box = sized({});",
        text=f"{BOX}static int sized(int n) {{ struct {{ char a[n + 1]; }} s; s.a[0] = 1; return (int) sizeof s; }}\n",
        boards=NATIVE,
    ),
    "where alloca gives memory": Escape(
        give="box = far({});",
        text="#include <stdlib.h>\n#include <alloca.h>\n"
        f"{BOX}static int far(int n) {{ char a, *p = alloca((unsigned) n * 16 + 16); return &a - p > 800; }}\n",
        boards=NATIVE,
    ),
    "where malloc gives memory": Escape(
        give="box = far({});",
        text=f"#include <stdlib.h>\n{BOX}static int far(int n) {{ char *p = malloc((unsigned) (n & 3) * 100 + 1), *q = malloc(1);"
        " int d = p && q ? (int) (q - p) : 0; free(q); free(p); return d > 200; }\n",
        boards=NATIVE,
    ),
    "memory given again": Escape(
        give="{{ int *p = malloc(sizeof *p); if (p) {{ *p = {}; box = *p; free(p); }} }}",
        text=f"#include <stdlib.h>\n{BOX}",
    ),
    "many arguments": Escape(
        give="box = last(20, 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,{});",
        text=f"#include <stdarg.h>\n{BOX}static int last(int n, ...) {{ va_list l; int v = 0; va_start(l, n);"
        " while (n--) v = va_arg(l, int); va_end(l); return v; }\n",
    ),
    "a struct among arguments": Escape(
        give="one.v = {}; box = second(1, one);",
        text=f"#include <stdarg.h>\n{BOX}static struct s {{ int v, w[5]; }} one;\n"
        "static int second(int n, ...) { va_list l; struct s t; va_start(l, n); t = va_arg(l, struct s); va_end(l); return t.v; }\n",
    ),
    "a goto computed": Escape(
        give="box = jump({});",
        text=f"{BOX}static int jump(int v) {{ static void *const to[] = {{&&a, &&b}}; goto *to[B(v > 40)]; a: return 3; b: return 100; }}\n",
    ),
    "a long copy": Escape(
        give="memset(row, 0, sizeof row); memset(row + ({} & 63), 100, 40);",
        take="row[50]",
        text="#include <string.h>\nstatic unsigned char row[128];\n",
    ),
    "a copy of symbolic length": Escape(
        give="memset(row, 0, sizeof row); memset(row, 100, (size_t) ({} & 15));",
        take="row[9]",
        text="#include <string.h>\nstatic unsigned char row[16];\n",
    ),
    "a variable of the thread": Escape(text="static _Thread_local int box;\n", boards=NATIVE),
    "a cleanup": Escape(
        give="{{ __attribute__((cleanup(last))) int v = {}; box = 0; }}",
        text=f"{BOX}static void last(int *p) {{ box = *p; }}\n",
    ),
    "an alias": Escape(
        give="again({});",
        text=f'{BOX}void once(int v) {{ box = v; }}\nvoid again(int v) __attribute__((alias("once")));\n',
    ),
    "an alias of a variable": Escape(
        give="again = {};", text='int box;\nextern int again __attribute__((alias("box")));\n'
    ),
    "a register variable": Escape(
        give="box = held({});",
        text=f'{BOX}static int held(int v) {{ register int r __asm__("ebx") = v; return r + 1; }}\n',
        boards=NATIVE,
    ),
    "another section": Escape(text='static int box __attribute__((section("elsewhere"))) = 1;\n', boards=NATIVE),
    "a switch": Escape(
        give="switch ({} & 15) {{ case 3: box = 1; break; case 5 ... 9: box = 100; break; default: box = 41; }}",
        take="box * 0",
        text=BOX,
    ),
    "a conditional": Escape(give="box = ({} & 1) ^ 1;", text=BOX),
    "a 64-bit number": Escape(
        give="box = (long long) {} << 33;", take="(int) (box >> 33)", text="static long long box;\n"
    ),
    "a struct returned": Escape(
        give="one = made({});",
        take="one.v",
        text="static struct s { int v, w[5]; } one;\nstatic struct s made(int v) { struct s t = {v}; return t; }\n",
    ),
    "a statement expression": Escape(give="box = ({{ int t = {}; t + 1; }});", text=BOX),
    "an array of arrays": Escape(give="row[{} & 3][1] = 100;", take="row[2][1]", text="static int row[4][2];\n"),
    "a nested index": Escape(
        give="box = outer[inner[{} & 7] & 3];",
        text=f"{BOX}static int outer[4] = {{0, 8, 41, 201}}; static unsigned char inner[8] = {{3, 1, 2, 0, 1, 1, 0, 2}};\n",
    ),
    "a string": Escape(give='box = "0123456789abcdef"[{} & 15];', text=BOX),
    "a table of strings": Escape(
        give="box = names[{} & 3][0];", text=f'{BOX}static const char *const names[] = {{"a", "", "(", "zz"}};\n'
    ),
    "a comparison of texts": Escape(
        give="buf[0] = (char) ({});", take='strcmp(buf, "d")', text="#include <string.h>\nstatic char buf[4];\n"
    ),
    "a function left by the compiler": Escape(give="box = __builtin_popcount((unsigned) {});", text=BOX),
}
_TRIGGER = """
static void trigger(void)
{
#ifdef PLAIN
    SysTick_Handler();
#else
    static void (*vectors[64])(void) __attribute__((aligned(256)));
    int i;
    for (i = 1; i < 64; i++) vectors[i] = SysTick_Handler;
    *(void *volatile *)0xE000ED08 = vectors;
    *(volatile unsigned *)0xE000ED04 = 1u << 26;
    __asm__ volatile("dsb; isb");
#endif
}
"""
_OTHERS = _TRIGGER.replace("static void trigger", "void SysTick_Handler(void);\nvoid trigger")
# Interrupts and registers.
DEVICES = {
    "a handler": Escape(
        give="box = {}; trigger();",
        take="result",
        text=f"{HOOKS}void SysTick_Handler(void) {{ result = box > 40 ? 100 : 1; }}\n{_TRIGGER}",
        boards=ARM,
    ),
    "a handler that sees nothing": Escape(
        give="trigger(); box = {};", text=f"{HOOKS}void SysTick_Handler(void) {{ result++; }}\n{_TRIGGER}", boards=ARM
    ),
    "a handler that overwrites": Escape(
        give="box = {}; trigger();", text=f"{BOX}void SysTick_Handler(void) {{ box = 41; }}\n{_TRIGGER}", boards=ARM
    ),
    "a handler with a pointer": Escape(
        give="box = {}; trigger();",
        take="result",
        text=f"{HOOKS}static int *at = &box;\nvoid SysTick_Handler(void) {{ result = *at > 40 ? 100 : 1; }}\n{_TRIGGER}",
        boards=ARM,
    ),
    "a handler without probes": Escape(
        give="ours = {}; trigger();",
        take="result",
        text="int ours, result;\nvoid trigger(void);\n",
        other=f"extern int ours, result;\nvoid SysTick_Handler(void) {{ result = ours > 40 ? 100 : 1; }}\n{_OTHERS}",
        boards=ARM,
    ),
    "a handler without probes and with a pointer": Escape(
        take="result",
        give="box = {}; trigger();",
        begin="known = &box;",
        text=f"{HOOKS.replace('static int box, result', 'static int box; int result')}int *known;\nvoid trigger(void);\n",
        other=f"extern int result, *known;\nvoid SysTick_Handler(void) {{ result = known && *known > 40 ? 100 : 1; }}\n{_OTHERS}",
        boards=ARM,
    ),
    "a handler without probes that was given a pointer": Escape(
        take="result",
        give="box = {}; trigger();",
        begin="keep(&box);",
        text=f"{HOOKS.replace('static int box, result', 'static int box; int result')}void keep(int *), trigger(void);\n",
        other="extern int result;\nstatic int *known;\nvoid keep(int *p) { known = p; }\n"
        f"void SysTick_Handler(void) {{ result = known && *known > 40 ? 100 : 1; }}\n{_OTHERS}",
        boards=ARM,
    ),
    "a function like a handler": Escape(
        give="UART_IRQHandler({});",
        text=f"{BOX}void UART_IRQHandler(int v) {{ if (B(v > 40)) box = 100; else box = v; }}\n",
    ),
    "a handler that is called": Escape(
        give="box = {}; SysTick_Handler();",
        take="result",
        text=f"{HOOKS}void SysTick_Handler(void) {{ if (B(box > 40)) result = 100; else result = 1; }}\n",
    ),
    "a register that is polled": Escape(
        give="if (B({} > 200)) poll();",
        take="1",
        text="""
static void poll(void)
{
#ifdef PLAIN
    B(1);
    end();
#else
    while (!(*(volatile unsigned *) 0x40011000 & 0x80)) continue;
#endif
}
""",
        boards=ARM,
    ),
    "a register that keeps": Escape(
        give="*(volatile unsigned *) REGISTER = {} > 40 ? 200 : 1;",
        take="(int) *(volatile unsigned *) REGISTER",
        begin="*(volatile unsigned *) REGISTER = 0;",
        text="""
#ifdef PLAIN
static volatile unsigned kept;
#define REGISTER &kept
#else
#define REGISTER 0xE000E014 /* SysTick's reload value */
#endif
""",
        boards=ARM,
    ),
}
KINDS = {
    "opaque": OPAQUE,
    "left": LEFT,
    "assembly": ASSEMBLY,
    "library": LIBRARY,
    "language": LANGUAGE,
    "devices": DEVICES,
}
