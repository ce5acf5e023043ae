/* Whole numbers, characters and texts. A format that has anything else in it (floating point, pointers, wide
 * characters, %n) is left to the library as a whole. A number's digits are a loop: one path for each number of them. */
#include <stdarg.h>

int sc_library_vsnprintf(char *, __SIZE_TYPE__, const char *, va_list) __asm__("vsnprintf");

/* Whether all conversions are known here. */
static int sc_is_plain(const char *at)
{
    for (; *at; at++) {
        char c;
        if (*at != '%') continue;
        do c = *++at;
        while ((c == '-') | (c == '+') | (c == ' ') | (c == '#') | (c == '0'));
        while ((c == '*') | (c == '.') | (c - '0' <= 9u)) c = *++at;
        if ((c == 'c') | (c == 's') | (c == '%')) continue;
        while ((c == 'h') | (c == 'l') | (c == 'z') | (c == 'j') | (c == 't')) c = *++at;
        if (!((c == 'd') | (c == 'i') | (c == 'u') | (c == 'o') | (c == 'x') | (c == 'X'))) return 0;
    }
    return 1;
}

#define SC_DIGITS(value, base)                                                                                         \
    while (value) {                                                                                                    \
        unsigned digit = (unsigned)(value % (base));                                                                   \
        *--number = (char)(digit + (digit > 9 ? letters : '0'));                                                       \
        value /= (base);                                                                                               \
    }
/* The base is a constant where it is used: powers of two need no division. */
#define SC_NUMBER(value)                                                                                               \
    do {                                                                                                               \
        if (c == 'o') SC_DIGITS(value, 8u)                                                                             \
        else if ((c | 32) == 'x') SC_DIGITS(value, 16u)                                                                \
        else SC_DIGITS(value, 10u)                                                                                     \
    } while (0)
#define SC_PUT(c)                                                                                                      \
    do {                                                                                                               \
        char put = (char)(c);                                                                                          \
        if (count + 1 < size) to[count] = put;                                                                         \
        count++;                                                                                                       \
    } while (0)

int vsnprintf(char *to, __SIZE_TYPE__ size, const char *format, va_list arguments)
{
    __SIZE_TYPE__ count = 0;
    char digits[24], *const end = digits + sizeof digits;

    if (!sc_is_plain(format)) return sc_library_vsnprintf(to, size, format, arguments);
    for (; *format; format++) {
        int left = 0, plus = 0, space = 0, prefix = 0, zero = 0, width = 0, precision = -1, length = 0, given, zeros,
            all;
        const char *text;
        char letters, sign = 0, c = *format;
        if (c != '%') {
            SC_PUT(c);
            continue;
        }
        for (;;) {
            c = *++format;
            if (c == '-') left = 1;
            else if (c == '+') plus = 1;
            else if (c == ' ') space = 1;
            else if (c == '#') prefix = 1;
            else if (c == '0') zero = 1;
            else break;
        }
        if (c == '*') {
            width = va_arg(arguments, int);
            if (width < 0) {
                left = 1;
                width = -width;
            }
            c = *++format;
        }
        for (; c - '0' <= 9u; c = *++format) width = 10 * width + (c - '0');
        if (c == '.') {
            precision = 0;
            c = *++format;
            if (c == '*') {
                precision = va_arg(arguments, int);
                c = *++format;
            }
            for (; c - '0' <= 9u; c = *++format) precision = 10 * precision + (c - '0');
        }
        for (;; c = *++format) {
            if (c == 'h') length--;
            else if (c == 'l') length++;
            else if (c == 'j') length = 2;
            else if ((c == 'z') | (c == 't')) length = sizeof(__SIZE_TYPE__) > sizeof(int);
            else break;
        }
        if (c == '%') {
            SC_PUT(c);
            continue;
        }
        given = 0;
        zeros = 0;
        if (c == 'c') {
            digits[0] = (char)va_arg(arguments, int);
            text = digits;
            given = 1;
        } else if (c == 's') {
            text = va_arg(arguments, const char *);
            while (given != precision && text[given]) given++;
        } else {
            char *number = end;
            letters = (char)(c == 'X' ? 'A' - 10 : 'a' - 10);
            if (length < 1) {
                unsigned value = va_arg(arguments, unsigned);
                if ((c == 'd') | (c == 'i')) {
                    int whole = length == -1 ? (short)value : length == -2 ? (signed char)value : (int)value;
                    sign = whole < 0 ? '-' : plus ? '+' : space ? ' ' : 0;
                    value = sign == '-' ? 0u - (unsigned)whole : (unsigned)whole;
                } else if (length) {
                    value = length == -1 ? (unsigned short)value : (unsigned char)value;
                }
                SC_NUMBER(value);
            } else if (length == 1) {
                unsigned long value = va_arg(arguments, unsigned long);
                if ((c == 'd') | (c == 'i')) {
                    sign = (long)value < 0 ? '-' : plus ? '+' : space ? ' ' : 0;
                    if (sign == '-') value = 0 - value;
                }
                SC_NUMBER(value);
            } else {
                unsigned long long value = va_arg(arguments, unsigned long long);
                if ((c == 'd') | (c == 'i')) {
                    sign = (long long)value < 0 ? '-' : plus ? '+' : space ? ' ' : 0;
                    if (sign == '-') value = 0 - value;
                }
                SC_NUMBER(value);
            }
            given = (int)(end - number);
            if (precision >= 0) zero = 0;
            else precision = 1;
            if (prefix && c == 'o' && precision <= given) precision = given + 1;
            prefix = (prefix && given && (c | 32) == 'x') ? 2 : 0;
            if (precision > given) zeros = precision - given;
            all = given + zeros + prefix + (sign != 0);
            if (zero && !left && width > all) zeros += width - all;
            all = given + zeros + prefix + (sign != 0);
            if (!left) for (; width > all; width--) SC_PUT(' ');
            if (sign) SC_PUT(sign);
            if (prefix) {
                SC_PUT('0');
                SC_PUT(c);
            }
            for (; zeros; zeros--) SC_PUT('0');
            for (number = end - given; number != end; number++) SC_PUT(*number);
            for (; width > all; width--) SC_PUT(' ');
            continue;
        }
        if (!left) for (; width > given; width--) SC_PUT(' ');
        for (all = 0; all < given; all++) SC_PUT(text[all]);
        for (; width > given; width--) SC_PUT(' ');
    }
    if (size) to[count < size ? count : size - 1] = 0;
    return (int)count;
}
