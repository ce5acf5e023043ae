#include <stdarg.h>
int vsnprintf(char *, __SIZE_TYPE__, const char *, va_list);

int snprintf(char *to, __SIZE_TYPE__ size, const char *format, ...)
{
    va_list arguments;
    int count;
    va_start(arguments, format);
    count = vsnprintf(to, size, format, arguments);
    va_end(arguments);
    return count;
}
