/* What scanf and its kin do where a format has nothing but whole numbers, characters, words and sets in it: no floating
 * point, pointers, wide characters, %m. Where a number ends is decided character by character. */
#ifndef SCORE_SCAN_H
#define SCORE_SCAN_H

#include <stdarg.h>

/* A text ends with a zero. A stream has an `end`, where one zero more can be read, and may have zeros in it. */
typedef struct {
    const char *at;
    const char *end; /* null for a text */
    int over;        /* a stream's end was met */
} sc_scanned;

/* Behind a set's closing bracket; null if there is none. */
static const char *sc_after_set(const char *at)
{
    if (*at == '^') at++;
    if (*at == ']') at++;
    while (*at && *at != ']') at++;
    return *at ? at + 1 : 0;
}

/* Whether all conversions are known here. */
static int sc_is_plain_scan(const char *at)
{
    while (*at) {
        char c;
        if (*at++ != '%') continue;
        c = *at++;
        while ((c == '*') | (c - '0' <= 9u)) c = *at++;
        if (c == '[') {
            at = sc_after_set(at);
            if (!at) return 0;
            continue;
        }
        if ((c == 'c') | (c == 's') | (c == '%')) continue;
        while ((c == 'h') | (c == 'l') | (c == 'z') | (c == 'j') | (c == 't')) c = *at++;
        if (!((c == 'd') | (c == 'i') | (c == 'u') | (c == 'o') | (c == 'x') | (c == 'X') | (c == 'n'))) return 0;
    }
    return 1;
}

static int sc_is_in_set(char c, const char *set)
{
    int inside = 1;
    const char *at = set;
    if (*at == '^') {
        inside = 0;
        at++;
    }
    do {
        if (at[1] == '-' && at[2] != ']') {
            if (((unsigned char)c >= (unsigned char)at[0]) & ((unsigned char)c <= (unsigned char)at[2])) return inside;
            at += 2;
        } else if (c == *at) {
            return inside;
        }
        at++;
    } while (*at != ']');
    return !inside;
}

static int sc_is_white(char c) { return (c == ' ') | ((unsigned)(unsigned char)c - '\t' <= '\r' - '\t'); }

static int sc_is_over(sc_scanned *from)
{
    if (from->end ? from->at != from->end : *from->at != 0) return 0;
    from->over = 1;
    return 1;
}

/* At the first character that does not belong to what was read, which a stream has looked at. */
static void sc_looked(sc_scanned *from)
{
    if (from->at == from->end) from->over = 1;
}

static void sc_skip_space(sc_scanned *from)
{
    while (sc_is_white(*from->at)) from->at++;
    sc_looked(from);
}

static int sc_scan(sc_scanned *from, const char *format, va_list arguments)
{
    const char *text = from->at, *at;
    int done = 0;

    for (; *format; format++) {
        int kept = 1, width = 0, length = 0, minus = 0, digits = 0;
        unsigned base;
        const char *set = format;
        char c = *format, *to = 0;
        if (sc_is_white(c)) {
            sc_skip_space(from);
            continue;
        }
        if (c == '%') {
            for (c = *++format; c == '*'; c = *++format) kept = 0;
            for (; c - '0' <= 9u; c = *++format) width = 10 * width + (c - '0');
            for (;; c = *++format) {
                if (c == 'h') length--;
                else if (c == 'l') length++;
                else if (c == 'j') length = 2;
                else if ((c == 'z') | (c == 't')) length = sizeof(__SIZE_TYPE__) > sizeof(int);
                else break;
            }
            set = format + 1;
            if ((c != 'c') & (c != '[') & (c != 'n')) sc_skip_space(from);
            if (c == '%') set = 0;
        } else {
            set = 0;
        }
        if (!set) { /* a character of its own */
            if (sc_is_over(from)) return done ? done : -1;
            if (*from->at != c) return done;
            from->at++;
            continue;
        }
        if (c == '[') format = sc_after_set(set) - 1;
        if (c != 'n' && sc_is_over(from)) return done ? done : -1;
        if ((c == 'c') | (c == 's') | (c == '[')) {
            if (kept) to = va_arg(arguments, char *);
            if (c == 'c' && !width) width = 1;
            for (; (!width || digits < width) && !sc_is_over(from); from->at++, digits++) {
                if (c == 's' && sc_is_white(*from->at)) break;
                if (c == '[' && !sc_is_in_set(*from->at, set)) break;
                if (kept) to[digits] = *from->at;
            }
            if (!digits) return done;
            if (kept && c != 'c') to[digits] = 0;
            done += kept;
            continue;
        }
        {
            unsigned long long value = 0;
            if (c == 'n') {
                value = (unsigned long long)(from->at - text);
            } else {
                int left = width ? width : -1; /* characters that it may still have */
                at = from->at;
                base = c == 'o' ? 8 : (c | 32) == 'x' ? 16 : 10;
                minus = *at == '-';
                if (minus || *at == '+') {
                    at++;
                    left--;
                }
                if (((c | 32) == 'x' || c == 'i') && left && *at == '0') {
                    at++;
                    left--;
                    digits = 1;
                    if (left && (*at | 32) == 'x') {
                        at++;
                        left--;
                        digits = 0;
                        base = 16;
                    } else if (c == 'i') {
                        base = 8;
                    }
                }
                for (; left; left--, at++, digits++) {
                    unsigned digit = (unsigned)(unsigned char)*at - '0';
                    if (base == 16 && digit > 9) {
                        digit = ((unsigned char)*at | 32u) - 'a';
                        if (digit > 5) break;
                        digit += 10;
                    }
                    if (digit >= base) break;
                    value = value * base + digit;
                }
                from->at = at;
                sc_looked(from); /* glibc does, also where the width is used up */
                if (!digits) return done;
                if (minus) value = 0 - value;
            }
            if (!kept) continue;
            if (length == -2) *va_arg(arguments, char *) = (char)value;
            else if (length == -1) *va_arg(arguments, short *) = (short)value;
            else if (length == 0) *va_arg(arguments, int *) = (int)value;
            else if (length == 1) *va_arg(arguments, long *) = (long)value;
            else *va_arg(arguments, long long *) = (long long)value;
            done += c != 'n';
        }
    }
    return done;
}

#endif
