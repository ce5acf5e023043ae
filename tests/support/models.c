/* Every model of the C library against the real function on random data: prints the first difference and exits with 1.
 * Arguments: seed, rounds. Buffers are as long as what is in them, so that sanitizers see whoever reads too far. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "models.h" /* the models' prototypes: MODEL(name) */

void sc_heap_free(unsigned long p); /* as the runtime's free does */
size_t sc_heap_size(unsigned long p);

static unsigned long long state;
static const char *doing;

static unsigned next(unsigned below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

static void differ(const char *name, long long real, long long model)
{
    printf("%s (%s): library %lld, model %lld\n", name, doing, real, model);
    exit(1);
}

static int sign(int x) { return (x > 0) - (x < 0); }
static long long place(const void *found, const void *from)
{ return found ? (const char *)found - (const char *)from : -1; }

#define SAME(name, real, model)                                                                                        \
    do {                                                                                                               \
        long long real_ = (real), model_ = (model);                                                                    \
        if (real_ != model_) differ(#name, real_, model_);                                                             \
    } while (0)

/* A text of exactly its own size, of few different characters. */
static char *text(unsigned most, const char *alphabet)
{
    unsigned size = next(most + 1), i;
    char *made = malloc(size + 1);
    for (i = 0; i < size; i++) made[i] = alphabet[next((unsigned)strlen(alphabet))];
    made[size] = 0;
    return made;
}

static void memory(void)
{
    unsigned size = next(12) + 1, part = next(size + 1), from = next(size - part + 1), to = next(size - part + 1), i;
    unsigned char *a = malloc(size), *b = malloc(size);
    for (i = 0; i < size; i++) a[i] = b[i] = (unsigned char)(next(3) * 127);
    doing = "bytes";
    SAME(memmove, place(memmove(a + to, a + from, part), a), place(MODEL(memmove)(b + to, b + from, part), b));
    SAME(memmove, 0, memcmp(a, b, size));
    SAME(memset, place(memset(a + to, (int)part - 300, part), a),
         place(MODEL(memset)(b + to, (int)part - 300, part), b));
    SAME(memset, 0, memcmp(a, b, size));
    for (i = 0; i < size; i++) b[i] = (unsigned char)(next(3) * 127);
    SAME(memcmp, sign(memcmp(a, b, part)), sign(MODEL(memcmp)(a, b, part)));
    SAME(memchr, place(memchr(a, 127 + 256, part), a), place(MODEL(memchr)(a, 127 + 256, part), a));
    SAME(memcpy, 0, place(MODEL(memcpy)(a, b, part), a));
    SAME(memcpy, 0, memcmp(a, b, part));
    SAME(memrchr, place(memrchr(a, 127 + 256, part), a), place(MODEL(memrchr)(a, 127 + 256, part), a));
    if (memchr(a, 127, size)) SAME(rawmemchr, place(rawmemchr(a, 127 + 256), a), place(MODEL(rawmemchr)(a, 383), a));
    for (i = 0; i < size; i++) a[i] = b[i] = (unsigned char)(next(3) * 127);
    SAME(bcopy, 0, (bcopy(a + from, a + to, part), MODEL(bcopy)(b + from, b + to, part), memcmp(a, b, size)));
    SAME(bcmp, !bcmp(a, b + from, part), !MODEL(bcmp)(a, b + from, part));
    SAME(bzero, 0, (bzero(a + to, part), MODEL(bzero)(b + to, part), memcmp(a, b, size)));
    for (i = 0; i < size; i++) b[i] = (unsigned char)next(3);
    SAME(mempcpy, (long long)part, place(MODEL(mempcpy)(a, b, part), a));
    SAME(mempcpy, 0, memcmp(a, b, part));
    free(a);
    free(b);
}

static void compare(void)
{
    char *a = text(5, "aB\xe4"), *b = text(5, "AbB\xe4");
    unsigned n = next(7);
    doing = a;
    SAME(strcmp, sign(strcmp(a, b)), sign(MODEL(strcmp)(a, b)));
    SAME(strncmp, sign(strncmp(a, b, n)), sign(MODEL(strncmp)(a, b, n)));
    SAME(strcasecmp, sign(strcasecmp(a, b)), sign(MODEL(strcasecmp)(a, b)));
    SAME(strncasecmp, sign(strncasecmp(a, b, n)), sign(MODEL(strncasecmp)(a, b, n)));
    free(a);
    free(b);
}

static void search(void)
{
    char *a = text(9, "abc"), *b = text(2, "abcd");
    int c = "abcd"[next(5)];
    doing = a;
    SAME(strlen, (long long)strlen(a), (long long)MODEL(strlen)(a));
    SAME(strnlen, (long long)strnlen(a, (size_t)c % 9), (long long)MODEL(strnlen)(a, (size_t)c % 9));
    SAME(strchr, place(strchr(a, c), a), place(MODEL(strchr)(a, c), a));
    SAME(strrchr, place(strrchr(a, c), a), place(MODEL(strrchr)(a, c), a));
    SAME(strstr, place(strstr(a, b), a), place(MODEL(strstr)(a, b), a));
    SAME(strspn, (long long)strspn(a, b), (long long)MODEL(strspn)(a, b));
    SAME(strcspn, (long long)strcspn(a, b), (long long)MODEL(strcspn)(a, b));
    SAME(strpbrk, place(strpbrk(a, b), a), place(MODEL(strpbrk)(a, b), a));
    SAME(strchrnul, place(strchrnul(a, c), a), place(MODEL(strchrnul)(a, c), a));
    free(a);
    free(b);
}

static void build(void)
{
    char *a = text(5, "xy"), *b = text(5, "zw"), one[16], two[16];
    unsigned n = next(8);
    doing = a;
    memset(one, '#', sizeof one);
    memset(two, '#', sizeof two);
    SAME(strcpy, place(strcpy(one, a), one), place(MODEL(strcpy)(two, a), two));
    SAME(strcat, place(strcat(one, b), one), place(MODEL(strcat)(two, b), two));
    SAME(strcat, 0, memcmp(one, two, sizeof one));
    SAME(strcpy, place(strcpy(one, a), one), place(MODEL(strcpy)(two, a), two));
    SAME(strncat, place(strncat(one, b, n), one), place(MODEL(strncat)(two, b, n), two));
    SAME(strncat, 0, memcmp(one, two, sizeof one));
    SAME(strncpy, place(strncpy(one, b, n), one), place(MODEL(strncpy)(two, b, n), two));
    SAME(strncpy, 0, memcmp(one, two, sizeof one));
    SAME(stpcpy, place(stpcpy(one, a), one), place(MODEL(stpcpy)(two, a), two));
    SAME(stpcpy, 0, memcmp(one, two, sizeof one));
    SAME(stpncpy, place(stpncpy(one, b, n), one), place(MODEL(stpncpy)(two, b, n), two));
    SAME(stpncpy, 0, memcmp(one, two, sizeof one));
    free(a);
    free(b);
}

static void tokens(void)
{
    char *a = text(9, "ab,;"), *b = strdup(a), *rest = 0, *of = 0;
    char *x = strtok_r(a, ",;", &rest), *y = MODEL(strtok_r)(b, ",;", &of), *z;
    doing = a;
    for (;;) {
        SAME(strtok_r, place(x, a), place(y, b));
        if (!x) break;
        SAME(strtok_r, 0, strcmp(x, y));
        x = strtok_r(0, ",;", &rest);
        y = MODEL(strtok_r)(0, ",;", &of);
    }
    free(a);
    a = text(9, "ab,;");
    b = realloc(b, strlen(a) + 1);
    strcpy(b, a);
    for (x = strtok(a, ","), z = MODEL(strtok)(b, ","); x || z; x = strtok(0, ",;"), z = MODEL(strtok)(0, ",;"))
        SAME(strtok, place(x, a), place(z, b));
    strcpy(b, a);
    for (rest = a, of = b; rest || of;) {
        SAME(strsep, place(strsep(&rest, ",;"), a), place(MODEL(strsep)(&of, ",;"), b));
        SAME(strsep, place(rest, a), place(of, b));
    }
    SAME(strsep, 0, strcmp(a, b));
    free(a);
    free(b);
}

#define NUMBER(name, base)                                                                                             \
    do {                                                                                                               \
        char *p, *q;                                                                                                   \
        int e, f;                                                                                                      \
        errno = 0;                                                                                                     \
        long long r = (long long)name(a, &p, base);                                                                    \
        e = errno;                                                                                                     \
        errno = 0;                                                                                                     \
        long long m = (long long)MODEL(name)(a, &q, base);                                                             \
        f = errno;                                                                                                     \
        SAME(name, r, m);                                                                                              \
        if (base != 1) SAME(name, place(p, a), place(q, a));                                                           \
        if (base != 1) SAME(name, e == ERANGE, f == ERANGE);                                                           \
    } while (0)

static void numbers(void)
{
    static const int bases[] = {0, 0, 2, 8, 10, 10, 10, 16, 16, 33, 36, 1};
    static const char *const alphabets[] = {"0123456789", "01", "0x19afgzZ", " \t-+08x9F", "9", "7f"};
    static const char *const prefixes[] = {"",
                                           " ",
                                           "-",
                                           "+",
                                           "\n\v 0x",
                                           "-0x",
                                           "0",
                                           "9223372036854775807",
                                           "-9223372036854775808",
                                           "18446744073709551615",
                                           "2147483647",
                                           "-2147483648",
                                           "4294967295",
                                           "0xg",
                                           "- 1",
                                           "9223372036854775808",
                                           "-9223372036854775809",
                                           "18446744073709551616",
                                           "2147483648",
                                           "-2147483649",
                                           "4294967296"};
    char *tail = text(next(4) ? 6 : 24, alphabets[next(6)]), *a;
    int base = bases[next(12)];
    const char *prefix = prefixes[next(21)];
    a = malloc(strlen(prefix) + strlen(tail) + 1);
    strcat(strcpy(a, prefix), tail);
    doing = a;
    NUMBER(strtol, base);
    NUMBER(strtoll, base);
    NUMBER(strtoul, base);
    NUMBER(strtoull, base);
    NUMBER(strtoimax, base);
    NUMBER(strtoumax, base);
    SAME(atoi, (int)strtol(a, 0, 10), MODEL(atoi)(a));
    SAME(atol, atol(a), MODEL(atol)(a));
    SAME(atoll, atoll(a), MODEL(atoll)(a));
    free(a);
    free(tail);
}

static void arithmetic(void)
{
    int a = (int)(next(65536) << 16 | next(65536)), b = (int)(next(100) - 50);
    long long c = (long long)a << next(32) | (long long)next(1000);
    div_t d, e;
    doing = "numbers";
    a >>= next(31);
    SAME(abs, abs(a), MODEL(abs)(a));
    SAME(labs, labs((long)a), MODEL(labs)((long)a));
    SAME(llabs, llabs(c), MODEL(llabs)(c));
    if (b == 0) return;
    d = div(a, b);
    e = MODEL(div)(a, b);
    SAME(div, d.quot, e.quot);
    SAME(div, d.rem, e.rem);
    SAME(ldiv, ldiv(a, b).rem, MODEL(ldiv)(a, b).rem);
    SAME(ldiv, ldiv(a, b).quot, MODEL(ldiv)(a, b).quot);
    SAME(lldiv, lldiv(c, b).rem, MODEL(lldiv)(c, b).rem);
    SAME(lldiv, lldiv(c, b).quot, MODEL(lldiv)(c, b).quot);
}

static int by_value(const void *a, const void *b)
{
    short x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static void sorting(void)
{
    unsigned count = next(next(4) ? 9 : 200), i;
    short *a = malloc(count * sizeof *a + 1), *b = malloc(count * sizeof *b + 1), key = (short)next(300);
    void *x, *y;
    for (i = 0; i < count; i++) a[i] = b[i] = (short)next(300);
    doing = "numbers";
    qsort(a, count, sizeof *a, by_value);
    MODEL(qsort)(b, count, sizeof *b, by_value);
    SAME(qsort, 0, memcmp(a, b, count * sizeof *a));
    x = bsearch(&key, a, count, sizeof *a, by_value);
    y = MODEL(bsearch)(&key, a, count, sizeof *a, by_value);
    SAME(bsearch, !x, !y);
    if (y) SAME(bsearch, key, *(short *)y);
    free(a);
    free(b);
}

/* Blocks that live side by side: each keeps what was written to it, wherever it is moved. There is room for some 100 of
 * them, so that free ones are joined and used again. */
static void blocks(void)
{
    static struct { unsigned char *real, *model; unsigned size; } held[64];
    unsigned i = next(64), size = next(8) ? next(60) : next(3000), from = held[i].size, k;
    unsigned char *a, *b;
    doing = "blocks";
    SAME(malloc, held[i].size ? memcmp(held[i].real, held[i].model, held[i].size) : 0, 0);
    if (next(3) == 0) {
        free(held[i].real);
        if (held[i].model) sc_heap_free((unsigned long)held[i].model);
        from = 0;
        a = next(2) ? malloc(size) : calloc(size, 1);
        if (next(2)) {
            b = MODEL(malloc)(size);
        } else {
            b = MODEL(calloc)(size, 1);
            for (k = 0; b && k < size; k++) SAME(calloc, 0, b[k]);
        }
    } else {
        errno = 0;
        SAME(reallocarray, 0, (long long)(size_t)MODEL(reallocarray)(held[i].model, size + 2, SIZE_MAX / 2));
        SAME(reallocarray, ENOMEM, errno);
        b = next(2) ? MODEL(realloc)(held[i].model, size) : MODEL(reallocarray)(held[i].model, size, 1);
        if (!b && size) return; /* full: it is still there */
        a = realloc(held[i].real, size);
    }
    SAME(malloc, 0, (long long)((unsigned long)b % 8));
    if (size) SAME(realloc, 0, b ? memcmp(a, b, from < size ? from : size) : 0);
    for (k = b ? from : size; k < size; k++) a[k] = b[k] = (unsigned char)next(256);
    if (b) SAME(malloc, size, (long long)sc_heap_size((unsigned long)b));
    held[i].real = a;
    held[i].model = b;
    held[i].size = b ? size : 0;
}

static void copies(void)
{
    char *a = text(9, "abc"), *b, *c;
    size_t n = next(12);
    doing = a;
    b = MODEL(strdup)(a);
    SAME(strdup, 0, b ? strcmp(a, b) : 0);
    SAME(strdup, b ? strlen(a) + 1 : 0, b ? sc_heap_size((unsigned long)b) : 0);
    if (b) sc_heap_free((unsigned long)b);
    b = strndup(a, n);
    c = MODEL(strndup)(a, n);
    SAME(strndup, 0, c ? strcmp(b, c) : 0);
    if (c) sc_heap_free((unsigned long)c);
    free(b);
    free(a);
}

/* One conversion with text around it; `spec` ends before the conversion's letters. */
static void conversion(const char *before, const char *flags, const char *letters, const char *after, int number,
                       long long wide)
{
    char format[64], *one, *two;
    size_t size = next(40), bytes = size ? size : 1;
    int r, m, width = (int)next(12) - 3, precision = (int)next(9) - 2;
    const char *length = letters;
    snprintf(format, sizeof format, "%s%%%s%s%s", before, flags, letters, after);
    doing = format;
    one = malloc(bytes);
    two = malloc(bytes);
    memset(one, '#', bytes);
    memset(two, '#', bytes);
#define BOTH(...)                                                                                                      \
    (r = snprintf(one, size, format, __VA_ARGS__), m = MODEL(snprintf)(two, size, format, __VA_ARGS__),                \
     sprintf(first, format, __VA_ARGS__), MODEL(sprintf)(second, format, __VA_ARGS__))
#define TAKEN(value)                                                                                                   \
    do {                                                                                                               \
        char first[128], second[128];                                                                                  \
        if (strstr(flags, "*.*")) BOTH(width, precision, value);                                                       \
        else if (strchr(flags, '*')) BOTH(width, value);                                                               \
        else BOTH(value);                                                                                              \
        SAME(sprintf, 0, strcmp(first, second));                                                                       \
    } while (0)
    if (!strcmp(length, "s")) TAKEN(&"texts"[number & 3]);
    else if (strchr(length, 'j') || strstr(length, "ll")) TAKEN(wide);
    else if (strchr(length, 'l')) TAKEN((long)wide);
    else if (strchr(length, 'z') || strchr(length, 't')) TAKEN((size_t)wide);
    else TAKEN(number);
    SAME(snprintf, r, m);
    SAME(snprintf, 0, memcmp(one, two, bytes));
    free(one);
    free(two);
}

static int through(int (*print)(char *, size_t, const char *, va_list), char *to, size_t size, const char *format, ...)
{
    va_list arguments;
    int count;
    va_start(arguments, format);
    count = print(to, size, format, arguments);
    va_end(arguments);
    return count;
}

static int unsized(char *to, size_t size, const char *format, va_list arguments)
{
    (void)size;
    return MODEL(vsprintf)(to, format, arguments);
}

static void formats(void)
{
    static const char *const signs[] = {"", "-", "+", " ", "0", "-+", "0 ", "+0", "- 0"}, *const bases[] = {"",   "-",
                                                                                                            "#",  "0",
                                                                                                            "#0", "-#"};
    static const char *const sizes[] = {"", "", "5", "12", ".0", ".3", "8.5", "1.2", "*", ".*", "*.*", "-7.9"};
    static const char *const whole[] = {"d", "i", "hd", "hhd", "ld", "lld", "zd", "jd", "td"};
    static const char *const bits[] = {"x", "X", "o", "u", "hx", "hhX", "lo", "llx", "zx", "ju"}, *const texts[] = {
                                                                                                      "s", "c"};
    static const int numbers[] = {0, 1, 9, 10, -1, 255, 256, -128, 65535, INT_MAX, INT_MIN};
    static const char *const around[] = {"", "a", "%%", "xyz "};
    const char *size = sizes[next(12)], *letters;
    char flags[16];
    int number = next(2) ? numbers[next(11)] : (int)(next(65536) << 16 | next(65536)) >> next(31);
    long long wide =
        next(2) ? number : (long long)((unsigned long long)next(0x7FFFFFFF) << 33 ^ next(0x7FFFFFFF)) >> next(63);
    switch (next(3)) {
    case 0: letters = whole[next(9)]; strcpy(flags, signs[next(9)]); break;
    case 1: letters = bits[next(10)]; strcpy(flags, strchr(letters, 'u') ? "0" : bases[next(6)]); break;
    default: letters = texts[next(2)]; strcpy(flags, next(2) ? "-" : ""); break;
    }
    if (*letters == 'c' && strchr(size, '.')) size = "3";
    if (size[0] == '-' && flags[0]) size = "4";
    if (!strcmp(size, ".*")) size = "*"; /* with one number only */
    strcat(flags, size);
    conversion(around[next(4)], flags, letters, around[next(4)], number, wide);
    {
        char one[64], two[64];
        doing = "several";
        memset(one, 0, sizeof one);
        memset(two, 0, sizeof two);
        SAME(vsnprintf, through(vsnprintf, one, 20, "%d %s|%.1f|%x", number, "t", 1.5, number),
             through(MODEL(vsnprintf), two, 20, "%d %s|%.1f|%x", number, "t", 1.5, number));
        SAME(vsnprintf, 0, memcmp(one, two, sizeof one));
        SAME(vsprintf, through(vsnprintf, one, 64, "%d,%5s,%lld", number, "t", wide),
             through(unsized, two, 0, "%d,%5s,%lld", number, "t", wide));
        SAME(vsprintf, 0, memcmp(one, two, sizeof one));
    }
}

static int scanned(int (*scan)(const char *, const char *, va_list), const char *text, const char *format, ...)
{
    va_list arguments;
    int done;
    va_start(arguments, format);
    done = scan(text, format, arguments);
    va_end(arguments);
    return done;
}

/* Two numbers, a word and how far it got: every argument is written only if the library writes it. */
static void scans(void)
{
    static const char *const formats[] = {"%d%d%s%n",       "%i,%i %s%n",     "%x %o%3s%n",  "%2d%3u %s%n",
                                          "%*d %d%d%s%n",   " %ld:%ld %2c%n", "%hd%hhd%s%n", "%lld%lld %[ab1]%n",
                                          "%d%%%d %[^,]%n", "%u -%u%[a-b]%n", "%zx%zx%s%n",  "%d%d%c%n",
                                          "%5i%i%s%n"};
    static const char *const alphabets[] = {"12 ", "07 ab", "-1,2", "1:2 a", "9 %,", "+-8f "};
    char *a = text(8, alphabets[next(6)]), *p; /* no number too large for its type: C leaves that open */
    struct { long long one, two; char word[16]; int at; } x, y;
    memset(&x, 0x5A, sizeof x);
    memset(&y, 0x5A, sizeof y);
    doing = a;
    for (p = a; *p; p++) if (next(12) == 0 && *p == '0') *p = 'a'; /* 0x is made below, with a digit behind it */
    if (next(3) == 0 && strlen(a) > 4) memcpy(a + next(2), "0xb", 3);
    {
        const char *format = formats[next(13)];
        char both[64];
        snprintf(both, sizeof both, "%s, %s", a, format);
        doing = both;
        SAME(vsscanf, scanned(vsscanf, a, format, &x.one, &x.two, x.word, &x.at),
             scanned(MODEL(vsscanf), a, format, &y.one, &y.two, y.word, &y.at));
        SAME(vsscanf, 0, memcmp(&x, &y, sizeof x));
        SAME(sscanf, sscanf(a, format, &x.one, &x.two, x.word, &x.at),
             MODEL(sscanf)(a, format, &y.one, &y.two, y.word, &y.at));
        SAME(sscanf, sscanf(a, "%d%f", (int *)&x.one, (float *)&x.two),
             MODEL(sscanf)(a, "%d%f", (int *)&y.one, (float *)&y.two));
        SAME(sscanf, 0, memcmp(&x, &y, sizeof x));
    }
    free(a);
}

static void characters(void)
{
    int c;
    doing = "characters";
    for (c = -1; c < 256; c++) {
#define CLASS(name) SAME(name, !(name)(c), !MODEL(name)(c))
        CLASS(isalnum); CLASS(isalpha); CLASS(isblank); CLASS(iscntrl); CLASS(isdigit); CLASS(isgraph); CLASS(islower);
        CLASS(isprint); CLASS(ispunct); CLASS(isspace); CLASS(isupper); CLASS(isxdigit);
        SAME(tolower, (tolower)(c), MODEL(tolower)(c));
        SAME(toupper, (toupper)(c), MODEL(toupper)(c));
    }
}

/* Which of the two zeros it is C leaves open. */
static int is_same(double a, double b) { return a == b || (a != a && b != b); }

static void numbers_with_points(void)
{
    static const double some[] = {0.0, -0.0, 1.5, -2.25, 1e-310, 1e300, INFINITY, -INFINITY, NAN, -1e-45, 3.4e38};
    double x = some[next(sizeof some / sizeof *some)],
           y = next(2) ? some[next(sizeof some / sizeof *some)] : next(100) - 50.0;
    doing = "floating point";
    SAME(fmin, 1, is_same(fmin(x, y), MODEL(fmin)(x, y)));
    SAME(fmax, 1, is_same(fmax(x, y), MODEL(fmax)(x, y)));
    SAME(fminf, 1, is_same(fminf(x, y), MODEL(fminf)(x, y)));
    SAME(fmaxf, 1, is_same(fmaxf(x, y), MODEL(fmaxf)(x, y)));
}

int main(int argc, char **argv)
{
    unsigned long rounds;
    if (argc != 3) return 2;
    state = strtoull(argv[1], 0, 10);
    characters();
    for (rounds = strtoul(argv[2], 0, 10); rounds; rounds--) {
        memory();
        compare();
        search();
        build();
        tokens();
        numbers();
        arithmetic();
        numbers_with_points();
        sorting();
        blocks();
        copies();
        formats();
        scans();
    }
    return 0;
}
