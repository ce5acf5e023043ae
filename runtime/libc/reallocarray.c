#include <errno.h>
void *realloc(void *, __SIZE_TYPE__);

void *reallocarray(void *old, __SIZE_TYPE__ count, __SIZE_TYPE__ size)
{
    if (size && count > (__SIZE_TYPE__)-1 / size) {
        errno = ENOMEM;
        return 0;
    }
    return realloc(old, count * size);
}
