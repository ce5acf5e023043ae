/* The models of what reads standard input against the library, which reads the same bytes from a file: random calls,
 * whose results and the end of the file are compared after each. The models have `model_` before their names. */
#define _GNU_SOURCE
#include "stdin_models.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 24
#define BEFORE 8 /* room for what is pushed back */

unsigned char __score_stdin[BEFORE + MOST + 1];
size_t __score_stdin_at, __score_stdin_end;
int __score_stdin_over;

static unsigned long long seed;

static unsigned any(unsigned below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % below;
}

static const char *const FORMATS[] = {
    "%d",      "%i",    "%x",   "%o",  "%u",  "%2d", "%1i",       "%*d%n",       "%hhd%c",    "%ld ",
    "%lli-%d", "%s",    "%3s",  "%c",  " %c", "%3c", "%[a-f0-9]", "%[^\n]",      "%4[^ -]%d", "%[]x-]",
    "a%d",     "%d,%d", "%%%d", " %n", "\n",  "7",   "%d%s%c",    "%hd %1[x]%i", "%zx",       "%c%c%c%n",
};

typedef struct {
    long long values[12];
    int result;
} outcome;

static void fail(const char *what, const unsigned char *data, size_t size)
{
    printf("%s differs on", what);
    for (size_t i = 0; i < size; i++) printf(" %02x", data[i]);
    printf("\n");
    exit(1);
}

int main(int argc, char **argv)
{
    static const char alphabet[] = "0123789-+ xXafF,%\n\tz";
    unsigned rounds = strtoul(argv[2], 0, 0);
    seed = strtoul(argv[1], 0, 0);
    (void)argc;
    for (unsigned round = 0; round < rounds; round++) {
        unsigned char data[MOST];
        size_t size = 1 + any(MOST);
        char *line[2] = {0, 0}, *name = "";
        size_t room[2] = {0, 0};
        int can_push = 0;
        for (size_t i = 0; i < size; i++) data[i] = alphabet[any(sizeof alphabet)]; /* its zero, too */
        for (size_t i = 0; i + 1 < size; i++) /* glibc before 2.38 takes `0x` without a digit for a number */
            if (data[i] == '0' && (data[i + 1] | 32) == 'x' && (i + 2 == size || !isxdigit(data[i + 2])))
                data[i + 1] = '1';
        for (size_t i = 0, digits = 0; i < size; i++) { /* what a number is that its type cannot hold, C leaves open */
            digits = isxdigit(data[i]) ? digits + 1 : 0;
            if (digits == 8) data[i] = ' ';
        }
        FILE *file = fmemopen(data, size, "r");
        memset(__score_stdin, 0, sizeof __score_stdin);
        memcpy(__score_stdin + BEFORE, data, size);
        __score_stdin_at = BEFORE;
        __score_stdin_end = BEFORE + size;
        __score_stdin_over = 0;
        for (unsigned call = 0; call < 6; call++) {
            outcome one, two;
            memset(&one, 0, sizeof one);
            memset(&two, 0, sizeof two);
            switch (any(9)) {
            case 0:
                name = "fgetc";
                one.result = fgetc(file);
                two.result = any(2) ? model_getchar() : model_getc_unlocked(stdin);
                can_push = one.result != EOF;
                break;
            case 1: {
                int most = 1 + any(8);
                name = "fgets";
                one.result = fgets((char *)one.values, most, file) != 0;
                two.result = model_fgets((char *)two.values, most, stdin) != 0;
                can_push = 0;
                break;
            }
            case 2: {
                unsigned of = 1 + any(3), count = any(4);
                name = "fread";
                one.result = fread(one.values, of, count, file);
                two.result = model_fread(two.values, of, count, stdin);
                can_push = 0;
                break;
            }
            case 3:
                if (!can_push) break;
                name = "ungetc";
                one.result = ungetc('7', file);
                two.result = model_ungetc('7', stdin);
                can_push = 0;
                break;
            case 4:
                name = "getdelim";
                if (any(2)) {
                    one.result = getline(&line[0], &room[0], file);
                    two.result = model_getline(&line[1], &room[1], stdin);
                } else {
                    one.result = getdelim(&line[0], &room[0], '7', file);
                    two.result = model_getdelim(&line[1], &room[1], '7', stdin);
                }
                if (one.result > 0 && (one.result != two.result || memcmp(line[0], line[1], one.result + 1)))
                    fail(name, data, size);
                can_push = 0;
                break;
            default: {
                const char *format = FORMATS[any(sizeof FORMATS / sizeof *FORMATS)];
                name = (char *)format;
                one.result = fscanf(file, format, &one.values[0], &one.values[4], &one.values[8], &one.values[11]);
                two.result =
                    any(2)
                        ? model_scanf(format, &two.values[0], &two.values[4], &two.values[8], &two.values[11])
                        : model_fscanf(stdin, format, &two.values[0], &two.values[4], &two.values[8], &two.values[11]);
                can_push = 0;
            }
            }
            if (memcmp(&one, &two, sizeof one)) {
                printf("%d and %d, %llx and %llx: ", one.result, two.result, one.values[0], two.values[0]);
                fail(name, data, size);
            }
            if (!feof(file) != !model_feof(stdin)) {
                printf("end of file after %s: %d; ", name, !!feof(file));
                fail("feof", data, size);
            }
        }
        for (;;) {
            int one = fgetc(file), two = model_fgetc(stdin);
            if (one != two) fail(name, data, size);
            if (one == EOF) break;
        }
        fclose(file);
        free(line[0]);
        free(line[1]);
    }
    return 0;
}
