#include "stdin.h"

int __score_other_feof(FILE *) __asm__("feof");

int feof(FILE *stream) { return stream == stdin ? __score_stdin_over : __score_other_feof(stream); }
