/* Whether one more digit is too much is asked only where there are that many digits. */
#include <errno.h>

unsigned long long strtoull(const char *text, char **end, int base)
{
    const char *at = text, *digits;
    const unsigned long long most = 2u * (unsigned long long)__LONG_LONG_MAX__ + 1;
    unsigned long long value = 0, limit = most;
    unsigned digit, safe;
    int minus, too_large = 0;

    while ((*at == ' ') | ((unsigned)(unsigned char)*at - '\t' <= '\r' - '\t')) at++;
    minus = *at == '-';
    if (minus || *at == '+') at++;

    if ((base == 0 || base == 16) && *at == '0' && (at[1] | 32) == 'x') {
        unsigned char next = (unsigned char)at[2];
        if ((next - '0' <= 9u) | ((next | 32u) - 'a' <= 5u)) {
            at += 2;
            base = 16;
        }
    }
    if (base == 0) base = *at == '0' ? 8 : 10;
    if (base < 2 || base > 36) {
        errno = EINVAL;
        if (end) *end = (char *)text;
        return 0;
    }
    safe = (8 * sizeof value - 1) / (base <= 16 ? 4 : 6); /* digits */
    for (digits = at;; at++) {
        unsigned c = (unsigned char)*at;
        digit = c - '0';
        if (base > 10 && digit > 9) {
            digit = (c | 32) - 'a';
            if (digit > 25) break;
            digit += 10;
        }
        if (digit >= (unsigned)base) break;
        if (at - digits >= (int)safe && (too_large || value > (limit - digit) / (unsigned)base)) too_large = 1;
        else value = value * (unsigned)base + digit;
    }
    if (end) *end = (char *)(at == digits ? text : at);
    if (too_large) {
        errno = ERANGE;
        return (unsigned long long)most;
    }
    return (unsigned long long)(minus ? 0 - value : value);
}
