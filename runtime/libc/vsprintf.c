#include <stdarg.h>
int vsnprintf(char *, __SIZE_TYPE__, const char *, va_list);

int vsprintf(char *to, const char *format, va_list arguments)
{
    return vsnprintf(to, (__SIZE_TYPE__)-1 / 2, format, arguments);
}
