/* Marks what matches a pattern in a line: literals, ?, classes, closures, % at the begin, $ at the end. Programs of
 * this kind have hundreds of flips a path, of which few are ever run. */
#include <stdio.h>
#include "score.h"

#define PAT 10
#define LINE 10

static char pat[PAT + 1], line[LINE + 1], out[200];

static int in_class(char c, const char *p, int *len)
{
    int i = 1, neg = 0, hit = 0;
    if (p[i] == '^') {
        neg = 1;
        i++;
    }
    while (p[i] && p[i] != ']') {
        if (p[i + 1] == '-' && p[i + 2] && p[i + 2] != ']') {
            if (c >= p[i] && c <= p[i + 2]) hit = 1;
            i += 3;
        } else {
            if (p[i] == '@' && p[i + 1]) i++;
            if (c == p[i]) hit = 1;
            i++;
        }
    }
    *len = p[i] ? i + 1 : i;
    return c && hit != neg;
}

static int one(char c, const char *p, int *len)
{
    switch (*p) {
    case '?': *len = 1; return c != 0;
    case '[': return in_class(c, p, len);
    case '@':
        if (p[1]) {
            *len = 2;
            return c == p[1];
        } /* fall through */
    default: *len = 1; return c == *p;
    }
}

static int match(const char *s, const char *p)
{
    const char *begin = s;
    while (*p) {
        int len = 1;
        if (*p == '$' && !p[1]) return *s == 0 ? (int)(s - begin) : -1;
        int hit = one(*s, p, &len);
        if (p[len] == '*') {
            const char *t = s;
            while (*t && one(*t, p, &len)) t++;
            for (; t >= s; t--) {
                int rest = match(t, p + len + 1);
                if (rest >= 0) return (int)(t - begin) + rest;
            }
            return -1;
        }
        if (!hit) return -1;
        s++;
        p += len;
    }
    return (int)(s - begin);
}

int main(void)
{
    int i = 0, o = 0;
    SYM_BYTES(pat, PAT);
    SYM_BYTES(line, LINE);
    while (line[i]) {
        const char *p = pat;
        int n;
        if (*p == '%') {
            if (i) {
                out[o++] = line[i++];
                continue;
            }
            p++;
        }
        n = match(line + i, p);
        if (n > 0) {
            out[o++] = '<';
            while (n--) out[o++] = line[i++];
            out[o++] = '>';
        } else out[o++] = line[i++];
    }
    printf("%s\n", out);
    return 0;
}
