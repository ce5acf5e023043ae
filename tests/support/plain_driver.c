/* Runs a plain program (built with -fsanitize-coverage=trace-pc) over inputs, all in one process.

   Inputs come on stdin as records of `argv[1]` bytes; for each one a result goes to stdout: the hash of the sequence
   of basic blocks, how the run ended, and the text that was printed. The program's writable data lies in sections
   put_data and put_bss and is restored before each run; it asks for its input through the functions that score.h
   declares for instrumented programs, so that both builds have the same source text. */
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RETURN, EXIT, ASSUMPTION, ASSERTION, ABORT };

struct result {
    uint64_t blocks;
    uint32_t ending, code, length;
} __attribute__((packed));

extern int plain_main(int argc, char **argv);
extern char __start_put_data[] __attribute__((weak)), __stop_put_data[] __attribute__((weak));
extern char __start_put_bss[] __attribute__((weak)), __stop_put_bss[] __attribute__((weak));

static uint64_t blocks;
static jmp_buf ending;
static int code;
static unsigned char input[256];
static size_t input_size, input_used;

void __sanitizer_cov_trace_pc(void)
{
    blocks = (blocks ^ (uint64_t)(uintptr_t)__builtin_return_address(0)) * 0x100000001b3u;
    blocks ^= blocks >> 29;
}

/* Generated programs report their decisions themselves, independent of what blocks the compiler keeps. */
void plain_decision(uint64_t decision)
{
    blocks = (blocks ^ (decision + 1)) * 0x100000001b3u;
    blocks ^= blocks >> 29;
}

static void take(void *p, size_t n)
{
    memset(p, 0, n);
    if (input_used < input_size)
        memcpy(p, input + input_used, n < input_size - input_used ? n : input_size - input_used);
    input_used += n;
}

void __score_symbolic(void *p, size_t n, const char *name) { (void)name; take(p, n); }
void __score_bytes(void *p, size_t n, const char *name) { (void)name; take(p, n); }
void __score_text(void *p, size_t n, const char *name) { (void)name; take(p, n); }
void __score_boolean(void *p, size_t n, const char *name)
{
    (void)name;
    memset(p, 0, n);
    take(p, 1);
    *(unsigned char *)p &= 1;
}
void __score_sized(const void *p, const size_t *n) { (void)p; (void)n; }
void __score_assume_fail(void) { longjmp(ending, 1 + ASSUMPTION); }
void __score_assert_fail(void) { longjmp(ending, 1 + ASSERTION); }
void __wrap___assert_fail(void) { longjmp(ending, 1 + ASSERTION); }
void __wrap_abort(void) { longjmp(ending, 1 + ABORT); }
void __wrap_exit(int status)
{
    code = status;
    longjmp(ending, 1 + EXIT);
}

int main(int argc, char **argv)
{
    char *none[] = { "plain", 0 }, *text = 0, *initial;
    size_t length = 0, data = (size_t)(__stop_put_data - __start_put_data);
    FILE *in = stdin, *out = stdout;
    if (argc != 2)
        return 2;
    input_size = (size_t)atoi(argv[1]);
    initial = malloc(data + 1);
    memcpy(initial, __start_put_data, data);
    stdout = open_memstream(&text, &length);
    while (fread(input, 1, input_size, in) == input_size) {
        struct result r;
        int jumped;
        memcpy(__start_put_data, initial, data);
        memset(__start_put_bss, 0, (size_t)(__stop_put_bss - __start_put_bss));
        rewind(stdout);
        blocks = 0xcbf29ce484222325u;
        input_used = 0;
        code = 0;
        jumped = setjmp(ending);
        if (jumped == 0)
            code = plain_main(1, none);
        fflush(stdout);
        r.blocks = blocks;
        r.ending = jumped ? (uint32_t)jumped - 1 : RETURN;
        r.code = (uint32_t)code & 0xff;
        r.length = (uint32_t)length;
        fwrite(&r, sizeof r, 1, out);
        fwrite(text, 1, length, out);
    }
    fflush(out);
    _exit(0);
}
