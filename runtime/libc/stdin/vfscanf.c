#include "stdin.h"
#include "../scan.h"

int __score_other_vfscanf(FILE *, const char *, va_list) __asm__("vfscanf");

int vfscanf(FILE *stream, const char *format, va_list arguments)
{
    sc_scanned from = {(const char *)__score_stdin + __score_stdin_at, (const char *)__score_stdin + __score_stdin_end,
                       0};
    int done;
    if (stream != stdin || !sc_is_plain_scan(format)) return __score_other_vfscanf(stream, format, arguments);
    done = sc_scan(&from, format, arguments);
    __score_stdin_at = (__SIZE_TYPE__)(from.at - (const char *)__score_stdin);
    __score_stdin_over |= from.over;
    return done;
}
