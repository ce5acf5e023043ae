/* Bare metal: the ends of a program that a C library would turn into a halt. */
#include "bare.h"

void _exit(int status);
void abort(void);
void __assert_func(const char *file, int line, const char *function, const char *text);

void _exit(int status)
{
    sc_end(SC_VERDICT_EXIT, status);
}

void abort(void)
{
    sc.pc = (sc_u64)(sc_uptr)__builtin_return_address(0) - 2u; /* within the call: what follows may be of another line */
    sc_end(SC_VERDICT_ABORT, 6);
}

static void say(const char *text)
{
    sc_u32 n = 0;
    while (text[n]) n++;
    sc_log(text, n);
}

void __assert_func(const char *file, int line, const char *function, const char *text)
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
    sc.pc = (sc_u64)(sc_uptr)__builtin_return_address(0) - 2u; /* within the call: what follows may be of another line */
    sc_end(SC_VERDICT_ASSERTION, 0);
}
