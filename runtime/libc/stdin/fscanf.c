#include "stdin.h"
#include <stdarg.h>

int fscanf(FILE *stream, const char *format, ...)
{
    va_list arguments;
    int done;
    va_start(arguments, format);
    done = vfscanf(stream, format, arguments);
    va_end(arguments);
    return done;
}
