#include "stdin.h"

char *__score_other_fgets(char *, int, FILE *) __asm__("fgets");

char *fgets(char *to, int size, FILE *from)
{
    int byte = 0, n = 0;
    if (from != stdin) return __score_other_fgets(to, size, from);
    while (n < size - 1 && byte != '\n') {
        byte = fgetc(stdin);
        if (byte == EOF) break;
        to[n++] = (char)byte;
    }
    if (n == 0 && byte == EOF) return 0;
    if (size > 0) to[n] = 0;
    return to;
}
