#include "stdin.h"

void *realloc(void *, __SIZE_TYPE__);
__PTRDIFF_TYPE__ __score_other_getdelim(char **, __SIZE_TYPE__ *, int, FILE *) __asm__("getdelim");

__PTRDIFF_TYPE__ getdelim(char **line, __SIZE_TYPE__ *size, int last, FILE *from)
{
    __SIZE_TYPE__ n = 0;
    int byte = EOF;
    if (from != stdin) return __score_other_getdelim(line, size, last, from);
    do {
        if (!*line || n + 2 > *size) { /* room for a byte and the zero behind it */
            __SIZE_TYPE__ more = *line && *size ? 2 * *size : 120;
            char *moved = realloc(*line, more);
            if (!moved) return -1;
            *line = moved;
            *size = more;
        }
        byte = fgetc(stdin);
        if (byte == EOF) break;
        (*line)[n++] = (char)byte;
    } while (byte != last);
    (*line)[n] = 0;
    return n ? (__PTRDIFF_TYPE__)n : -1;
}
