#include <stdarg.h>
int vsprintf(char *, const char *, va_list);

int sprintf(char *to, const char *format, ...)
{
    va_list arguments;
    int count;
    va_start(arguments, format);
    count = vsprintf(to, format, arguments);
    va_end(arguments);
    return count;
}
