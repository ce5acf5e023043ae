/* Formats that have anything else in them than scan.h knows are left to the library as a whole. */
#include "scan.h"

#ifdef __AVR__ /* whose library has no vsscanf; this is how it makes its sscanf */
#include <stdio.h>
static int sc_library_vsscanf(const char *text, const char *format, va_list arguments)
{
    FILE file;
    file.flags = __SRD | __SSTR;
    file.buf = (char *)text;
    return vfscanf(&file, format, arguments);
}
#else
int sc_library_vsscanf(const char *, const char *, va_list) __asm__("vsscanf");
#endif

int vsscanf(const char *text, const char *format, va_list arguments)
{
    sc_scanned from = {text, 0, 0};
    return sc_is_plain_scan(format) ? sc_scan(&from, format, arguments) : sc_library_vsscanf(text, format, arguments);
}
