#include "stdin.h"

int __score_other_ungetc(int, FILE *) __asm__("ungetc");

int ungetc(int byte, FILE *to)
{
    if (to != stdin) return __score_other_ungetc(byte, to);
    if (byte == EOF || __score_stdin_at == 0) return EOF;
    __score_stdin_over = 0;
    __score_stdin[--__score_stdin_at] = (unsigned char)byte;
    return (unsigned char)byte;
}
