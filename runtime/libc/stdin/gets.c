#include "stdin.h"

char *gets(char *to)
{
    int byte, n = 0;
    while ((byte = fgetc(stdin)) != EOF && byte != '\n') to[n++] = (char)byte;
    if (n == 0 && byte == EOF) return 0;
    to[n] = 0;
    return to;
}
