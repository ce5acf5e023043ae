#include <stdarg.h>
int vsscanf(const char *, const char *, va_list);

int sscanf(const char *text, const char *format, ...)
{
    va_list arguments;
    int done;
    va_start(arguments, format);
    done = vsscanf(text, format, arguments);
    va_end(arguments);
    return done;
}
