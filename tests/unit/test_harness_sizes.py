"""How long arrays and texts are made: what the code compares their counts with, and copies them into."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from score_embed.contract.program import Source
from score_embed.frontend.harness.asked import Asked
from score_embed.frontend.harness.entry import harness_of
from score_embed.frontend.harness.hints import Hint, Hints
from score_embed.frontend.harness.lengths import Lengths, lengths
from score_embed.frontend.types.data_model import DataModel

HEAD = """# 1 "string.h" 1 3
typedef unsigned long size_t; typedef unsigned char u8; typedef unsigned short u16;
void *memcpy(void *, const void *, size_t); int memcmp(const void *, const void *, size_t);
char *strcpy(char *, const char *); int strcmp(const char *, const char *); size_t strlen(const char *);
int sprintf(char *, const char *, ...); int printf(const char *, ...);
# 1 "s.c"
struct hdr { u8 kind, flags; u16 len; unsigned seq[6]; };
struct dev { u8 room[40]; int used; };
struct other { u8 room[60]; };
enum { SMALLEST = 20 };
static const char *const words[] = { "no", "the-longest-of-all-words" };
static const struct { const char *name; int id; } table[] = { { "version-of-all", 1 }, { "the-longest-of-names", 2 } };
static int inner(const u8 *q, int k) { return k >= 30 && q[29]; }
static int starts(const char *s, const char *prefix) { return *s == *prefix; }
static int same(const u8 *q, size_t k) { return 0; }
int there(const u8 *q, size_t k);
static int between(const u8 *r, size_t m) { return there(r, m - 7); }
int far(const char *s);
"""
THERE = """# 1 "t.c"
typedef unsigned long size_t;
static int limit(size_t n) { return n > 50; }
static int same(const unsigned char *q, size_t k) { return k > 44; }
int there(const unsigned char *q, size_t k) { return k < 33 || limit(k); }
int far(const char *s) { char to[20]; int i = 0; while (*s) to[i++] = *s++; return to[0]; }
"""
BUFFER, TEXT = "const u8 *p, size_t n", "const char *s"
USUAL = "p ≤ 16 bytes"
# What the function gets, what it does, and the bound of that.
ASKING = {
    "nothing": (BUFFER, "return n > 3 && p[n - 1];", USUAL),
    "stated": (BUFFER, "if (!(n >= 1024)) __builtin_trap(); return p[1];", f"{USUAL}, or 1024 to 1040"),
    "stated of structures": ("struct hdr *p, int n", "if (n < 10) __builtin_trap(); return p[9].len;", "p ≤ 11 structs"),
    "compared": (BUFFER, "return n < 32 ? 0 : p[31];", f"{USUAL}, or 32 to 48"),
    "the other way round": (BUFFER, "return 32 > n;", f"{USUAL}, or 32 to 48"),
    "an enumerator": (BUFFER, "return n == SMALLEST;", "p ≤ 36 bytes"),
    "at the edge": (BUFFER, "return n > 16;", "p ≤ 17 bytes"),
    "a type's size": (BUFFER, "return n < sizeof(struct hdr);", f"{USUAL}, or 28 to 44"),
    "a variable's size": (BUFFER, "const struct hdr *h = (void *) p; return n < sizeof *h + 2;", f"{USUAL}, or 30 to 46"),
    "a variable's size, less": (BUFFER, "const struct hdr *h = (void *) p; return n < sizeof *h - 2;", f"{USUAL}, or 26 to 42"),
    "a sum, turned": (BUFFER, "return 4 + n > 44;", f"{USUAL}, or 40 to 56"),
    "assigned": (BUFFER, "size_t rest; rest = n - 4; return rest > 40;", f"{USUAL}, or 44 to 60"),
    "a sum": (BUFFER, "return n + 4 > 44;", f"{USUAL}, or 40 to 56"),
    "a difference": (BUFFER, "size_t rest = n - 4; return rest > 40;", f"{USUAL}, or 44 to 60"),
    "a switch": (BUFFER, "switch (n) { case 24: return 1; case 60: return 2; } return 0;", f"{USUAL}, or 24 to 40, or 60 to 76"),
    "too large": (BUFFER, "return n > 4096;", USUAL),
    "many": (BUFFER, " ".join(f"if (n == {k}) return {k};" for k in range(30, 270, 30)) + " return 0;", f"{USUAL}, or 30 to 256"),
    "by a call": (BUFFER, "return inner(p + 4, n - 4);", f"{USUAL}, or 34 to 50"),
    "by a call elsewhere": (BUFFER, "return there(p, n);", f"{USUAL}, or 33 to 66"),
    "by a call of one that others have, too": (BUFFER, "return same(p, n);", USUAL),
    "by two calls elsewhere": (BUFFER, "return between(p, n);", f"{USUAL}, or 40 to 73"),
    "copied": (BUFFER, "u8 to[64]; memcpy(to, p, n); return to[0];", f"{USUAL}, or 64 to 65"),
    "copied without its head": (BUFFER, "u8 to[64]; memcpy(to + 4, p + 2, n - 2); return to[0];", f"{USUAL}, or 62 to 63"),
    "copied to a member": (f"struct dev *d, {BUFFER}", "memcpy(d->room, p, n); return 0;", f"{USUAL}, or 40 to 41, or 60 to 61"),
    "one by one": (BUFFER, "u8 to[24]; for (size_t i = 0; i < n; i++) to[i] = p[i]; return to[0];", f"{USUAL}, or 24 to 25"),
    "moving": (BUFFER, "u8 to[24], *q = to; while (n--) *q++ = *p++; return to[0];", f"{USUAL}, or 24 to 25"),
    "held within": (BUFFER, "u8 to[24]; size_t i; for (i = 0; i < n && i < 23; i++) to[i] = p[i]; to[i] = 0; return to[0];", USUAL),
    "held within, turned": (BUFFER, "u8 to[24]; size_t i; for (i = 0; i < n; i++) { if (23 <= i) break; to[i] = p[i]; } to[i] = 0; return to[0];", USUAL),
    "held within by its last": (BUFFER, "u8 to[24]; size_t i; for (i = 0; i < n && i <= 22; i++) to[i] = p[i]; to[i] = 0; return to[0];", USUAL),
    "left behind its last": (BUFFER, "u8 to[24]; size_t i; for (i = 0; i < n; i++) { if (i > 22) break; to[i] = p[i]; } to[i] = 0; return to[0];", USUAL),
    "a rest copied": (BUFFER, "u8 to[64]; size_t rest = n - 4; memcpy(to, p, rest); return to[0];", f"{USUAL}, or 64 to 69"),
    "held within with a sum": (BUFFER, "u8 to[24]; size_t i; for (i = 0; i < n && i + 1 < 24; i++) to[i] = p[i]; to[i] = 0; return to[0];", USUAL),
    "held twice, but for its end": (BUFFER, "u8 to[24]; size_t i; for (i = 0; i < n && i < 24; i++) { if (i > 0) n--; to[i] = p[i]; } to[i] = 0; return to[0];", f"{USUAL}, or 24 to 25"),
    "held within, but for its end": (BUFFER, "u8 to[24]; size_t i; for (i = 0; i < n && i < 24; i++) to[i] = p[i]; to[i] = 0; return to[0];", f"{USUAL}, or 24 to 25"),
    "held within, but for one": (BUFFER, "u8 to[24]; for (size_t i = 0; i < n && i <= 24; i++) to[i] = p[i]; return to[0];", f"{USUAL}, or 24 to 25"),
    "of another": (f"char *to, size_t room, {BUFFER}", "if (n < 40 || room < n + 2) return 0; to[n] = p[0]; return 1;", "to ≤ 16 bytes, or 42 to 58"),
    "of what counts": (BUFFER, "size_t i; for (i = 0; i < 99; i++) p++; for (i = 0; i < n; i++) p++; return p[0];", USUAL),
    "printed behind each other": (BUFFER, 'char to[33]; for (size_t i = 0; i < n; i++) sprintf(to + 2 * i, "%02x", p[i]); return to[0];', f"{USUAL}, or 33 to 34"),
    "as long as a literal": (BUFFER, 'return memcmp(p, "a literal of 23 letters", n);', f"{USUAL}, or 23 to 39"),
    "to an end": ("const u8 *p, const u8 *end", "return end - p < 22 ? 0 : p[21];", f"{USUAL}, or 22 to 38"),
    "to an end, further on": ("const u8 *p, const u8 *end", "return end - (p + 2) < 22 ? 0 : p[21];", f"{USUAL}, or 24 to 40"),
    "left over": ("const u8 **p, size_t *n_left", "if (*n_left < 24) return 0; (*p)++; (*n_left)--; return 1;", "(*p) ≤ 16 bytes, or 24 to 40"),
    "wide elements": ("const unsigned *p, int n", "return n > 30 && p[30];", "p ≤ 16 elements, or 30 to 46"),
    "wide elements, too large": ("const unsigned *p, int n", "return n > 90;", "p ≤ 16 elements"),
    "structures": ("struct hdr *p, int n", "return n < 5 ? 0 : p[4].len;", "p ≤ 6 structs"),
    "more structures": ("struct hdr *p, int n", "return n < 50 ? 0 : p[4].len;", "p ≤ 3 structs"),
    "no text": (TEXT, "return s[0];", "s ≤ 15 characters"),
    "a text": (TEXT, "return strlen(s) > 24;", "s ≤ 25 characters"),
    "a text's length": (TEXT, "size_t k = strlen(s + 1); return k == 20;", "s ≤ 22 characters"),
    "a text copied": (TEXT, "char to[32]; strcpy(to, s); return to[0];", "s ≤ 32 characters"),
    "a text printed": (TEXT, 'char to[32]; return sprintf(to, "%s of a long format that is no text to be", s);', "s ≤ 32 characters"),
    "a text on the screen": (TEXT, 'return printf("%s of a long format that is no text to be", s);', "s ≤ 15 characters"),
    "a text elsewhere": (TEXT, "return far(s + 1);", "s ≤ 20 characters"),
    "a literal": (TEXT, 'return strcmp(s, "reboot-to-bootloader");', "s ≤ 21 characters"),
    "a literal by a call": (TEXT, 'return starts(s, "coap+tcp://[fe80::1]");', "s ≤ 21 characters"),
    "a table": (TEXT, "return strcmp(words[1], s);", "s ≤ 25 characters"),
    "a table of structures": (TEXT, "for (int i = 0; i < 2; i++) if (!strcmp(table[i].name, s)) return i; return 9;", "s ≤ 21 characters"),
    "an element": ("const u8 *p", "return p[40] == 7;", "p = 41 bytes"),
    "an element behind": ("const u8 *p", "return *(p + 20) == 7 && inner(p, 3);", "p = 30 bytes"),
    "so many elements": ("const u8 *p", "int k = 0; for (int i = 0; i < 32; i++) k += p[i]; return k;", "p = 32 bytes"),
    "so many elements further on": ("const u8 *p", "int k = 0; for (int i = 0; i < 30; i++) k += p[i + 2]; return k;", "p = 32 bytes"),
    "so many bytes": ("const void *p", "u8 h[36]; memcpy(h, p, sizeof h); return h[3];", "p = 36 bytes"),
}  # fmt: skip


@pytest.fixture(scope="module")
def model() -> DataModel:
    done = subprocess.run(["gcc", "-dM", "-E", "-xc", "/dev/null"], capture_output=True, text=True, check=True)
    return DataModel.from_macros(done.stdout)


def _bounds(model: DataModel, parameters: str, body: str, hints: Hints | None = None) -> list[str]:
    here = Source(Path("s.c"), f"{HEAD}int f({parameters}) {{ {body} }}\n")
    return harness_of([here, Source(Path("t.c"), THERE)], "f", model, hints).within


@pytest.mark.parametrize("case", ASKING)
def test_what_the_code_asks_for_is_made(model: DataModel, case: str) -> None:
    parameters, body, bound = ASKING[case]
    assert bound in _bounds(model, parameters, body)


@pytest.mark.parametrize(
    ("hints", "bound"),
    [
        (Hints(assume=("n >= 40 && n < 44",)), f"{USUAL}, or 40 to 60"),
        (Hints(arguments={"n": Hint(low="40", high="60")}), f"{USUAL}, or 40 to 76"),
        (Hints(assume=("n >= WHO_KNOWS(",)), USUAL),
        (Hints(assume=("n >= 1500",)), f"{USUAL}, or 1500 to 1516"),
        (Hints(assume=("n >= 5000",)), USUAL),
        (Hints(arguments={"p": Hint(size=5)}), "p ≤ 5 bytes"),
    ],
)
def test_so_is_what_the_user_says(model: DataModel, hints: Hints, bound: str) -> None:
    assert bound in _bounds(model, BUFFER, "return p[0];", hints)


def test_a_flexible_array_is_as_long_as_is_asked(model: DataModel) -> None:
    text = f"{HEAD}struct pkt {{ u16 len; u8 body[]; }}; int f(struct pkt *p) {{ return p->len < 24 ? 0 : p->body[23]; }}\n"
    harness = harness_of([Source(Path("s.c"), text)], "f", model)
    assert "p->body ≤ 16 bytes, or 24 to 40" in harness.within
    assert "unsigned char room[sizeof(struct pkt) + 40 * sizeof ((struct pkt *) 0)->body[0]]" in harness.text


def test_on_a_small_board_arrays_are_small() -> None:
    asked = Asked({20, 60, 200}, {64})
    stated = Asked({70, 300, 2000})
    assert lengths(asked, Asked(), 1, small=True).ranges == ((0, 36), (60, 76))
    assert lengths(asked, stated, 1, small=True).ranges == ((0, 36), (60, 80))
    assert lengths(asked, Asked(), 1, small=False).ranges == ((0, 36), (60, 76), (200, 216))
    assert lengths(asked, stated, 1, small=False).ranges == ((0, 36), (60, 86), (200, 216), (300, 316), (2000, 2016))


@pytest.mark.parametrize("ranges", [((0, 16),), ((0, 16), (24, 40)), ((0, 17), (64, 65), (100, 116))])
def test_the_condition_is_that_of_the_ranges(ranges: tuple[tuple[int, int], ...], tmp_path: Path) -> None:
    """As a compiler has it, of a count that is negative, too."""
    (tmp_path / "c.c").write_text(
        "#include <stdio.h>\nint main(void) { for (int n = -300; n < 300; n++) "
        f'if ({Lengths(ranges).condition("n")}) printf("%d\\n", n); return 0; }}\n'
    )
    subprocess.run(["gcc", "-Wall", "-Werror", "-o", "c", "c.c"], cwd=tmp_path, check=True)
    done = subprocess.run(["./c"], cwd=tmp_path, capture_output=True, text=True, check=True)
    allowed = [n for first, last in ranges for n in range(first, last + 1)]
    assert list(map(int, done.stdout.split())) == allowed
