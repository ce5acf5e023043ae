/* AVR: what avr-libc asks of a system. Its output is unbuffered, so a line is gathered here. */
#include <stdio.h>

#include "bare.h"

void __assert(const char *function, const char *file, int line, const char *text);

static struct {
    sc_u8 text[24];
    sc_u8 fill;
} line SC_RUNTIME_DATA;

void sc_bare_flush(void)
{
    if (line.fill) sc_log(line.text, line.fill);
    line.fill = 0;
}

static int put(char c, FILE *file)
{
    (void)file;
    line.text[line.fill++] = (sc_u8)c;
    if (c == '\n' || line.fill == sizeof line.text) sc_bare_flush();
    return 0;
}

static FILE console = FDEV_SETUP_STREAM(put, 0, _FDEV_SETUP_WRITE);

/* Only programs that print have the library's table of streams. */
extern struct __file *__iob[] __attribute__((weak));

__attribute__((constructor)) static void open_streams(void)
{
    if (__iob) __iob[1] = __iob[2] = &console;
}

void __assert(const char *function, const char *file, int line, const char *text)
{
    sc.pc = SC_RETURN_ADDRESS() - 2u;
    sc_bare_assertion(file, line, function, text);
}
