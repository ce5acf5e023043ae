#include "stdin.h"
#include <stdarg.h>

int vscanf(const char *format, va_list arguments) { return vfscanf(stdin, format, arguments); }
