#include "stdin.h"
void *memcpy(void *, const void *, __SIZE_TYPE__);

__PTRDIFF_TYPE__ __score_other_read(int, void *, __SIZE_TYPE__) __asm__("read");

__PTRDIFF_TYPE__ read(int file, void *to, __SIZE_TYPE__ size)
{
    __SIZE_TYPE__ left = __score_stdin_end - __score_stdin_at;
    if (file != 0) return __score_other_read(file, to, size);
    if (size > left) size = left;
    memcpy(to, __score_stdin + __score_stdin_at, size);
    __score_stdin_at += size;
    return (__PTRDIFF_TYPE__)size;
}
