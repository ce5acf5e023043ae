#include "stdin.h"
void *memcpy(void *, const void *, __SIZE_TYPE__);

__SIZE_TYPE__ __score_other_fread(void *, __SIZE_TYPE__, __SIZE_TYPE__, FILE *) __asm__("fread");

__SIZE_TYPE__ fread(void *to, __SIZE_TYPE__ size, __SIZE_TYPE__ count, FILE *from)
{
    __SIZE_TYPE__ wanted = size * count, left = __score_stdin_end - __score_stdin_at;
    if (from != stdin) return __score_other_fread(to, size, count, from);
    if (wanted == 0) return 0;
    if (wanted > left) {
        wanted = left;
        __score_stdin_over = 1;
    }
    memcpy(to, __score_stdin + __score_stdin_at, wanted);
    __score_stdin_at += wanted;
    return wanted / size;
}
