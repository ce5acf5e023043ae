/* Runs a plain program on an AVR, in QEMU, over inputs that come by its UART; never sees the front-end, the probes or the runtime.

   For each input of INPUT bytes the program runs once. What it prints is sent as 1 and the byte, its end as 0, how it
   ended, and its status; then the board starts again, so that nothing is left of the run. */
#include <avr/io.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RETURN, EXIT, ASSUMPTION, ASSERTION, ABORT };

int plain_main(int argc, char **argv);

static uint8_t input[INPUT ? INPUT : 1];
static size_t input_used;

static void send(uint8_t byte)
{
    loop_until_bit_is_set(UCSR0A, UDRE0);
    UDR0 = byte;
}

static int print(char c, FILE *file)
{
    (void)file;
    send(1);
    send((uint8_t)c);
    return 0;
}

static void end(uint8_t how, int status) __attribute__((noreturn));
static void end(uint8_t how, int status)
{
    send(0);
    send(how);
    send((uint8_t)status);
    __asm__ volatile("jmp 0");
    __builtin_unreachable();
}

static void take(void *p, size_t n)
{
    uint8_t *to = p;
    for (; n--; input_used++) *to++ = input_used < INPUT ? input[input_used] : 0;
}

void __score_symbolic(void *p, size_t n, const char *name) { (void)name; take(p, n); }
void __score_bytes(void *p, size_t n, const char *name) { (void)name; take(p, n); }
void __score_assume_fail(void) { end(ASSUMPTION, 0); }
void __score_assert_fail(void) { end(ASSERTION, 0); }
void __assert(const char *function, const char *file, int line, const char *text) { end(ASSERTION, 0); }
void __wrap_abort(void) { end(ABORT, 0); }
void __wrap_exit(int status) { end(EXIT, status); }

static FILE out = FDEV_SETUP_STREAM(print, NULL, _FDEV_SETUP_WRITE);

int main(void)
{
    static char name[] = "plain", *arguments[] = { name, 0 };
    if (!(UCSR0B & 1 << RXEN0)) { /* the first start: a later one may find input */
        UCSR0B = 1 << RXEN0 | 1 << TXEN0;
        (void)UDR0; /* QEMU looks for input only after this */
    }
    for (size_t i = 0; i < INPUT; i++) {
        loop_until_bit_is_set(UCSR0A, RXC0);
        input[i] = UDR0;
    }
    stdout = stderr = &out;
    end(RETURN, plain_main(1, arguments));
}
