#include "stdin.h"
#include <stdarg.h>

int scanf(const char *format, ...)
{
    va_list arguments;
    int done;
    va_start(arguments, format);
    done = vfscanf(stdin, format, arguments);
    va_end(arguments);
    return done;
}
