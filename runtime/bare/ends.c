/* Bare metal: the ends of a program that a C library would turn into a halt. */
#include "bare.h"

void _exit(int status);
void abort(void);
void __assert_func(const char *file, int line, const char *function, const char *text);

#ifndef SC_OWN_EXIT
void _exit(int status)
{
    sc_end(SC_VERDICT_EXIT, status);
}
#endif

void abort(void)
{
    sc.pc = SC_RETURN_ADDRESS() - 2u; /* within the call: what follows may be of another line */
    sc_end(SC_VERDICT_ABORT, 6);
}

static void say(const char *text)
{
    sc_u32 n = 0;
    while (text[n]) n++;
    sc_log(text, n);
}

void sc_bare_assertion(const char *file, int line, const char *function, const char *text)
{
    char digits[12];
    int at = sizeof digits;
    digits[--at] = 0;
    do digits[--at] = (char)('0' + line % 10);
    while ((line /= 10) > 0);
    say(file);
    say(":");
    say(digits + at);
    say(": ");
    say(function ? function : "?");
    say(": Assertion `");
    say(text);
    say("' failed.\n");
    sc_end(SC_VERDICT_ASSERTION, 0);
}

void __assert_func(const char *file, int line, const char *function, const char *text)
{
    sc.pc = SC_RETURN_ADDRESS() - 2u;
    sc_bare_assertion(file, line, function, text);
}
