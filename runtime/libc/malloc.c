/* One path for each size, found bit by bit, but for those that no memory has room for. */
#include <errno.h>
void *sc_heap_allocate(__SIZE_TYPE__);
int __score_is_symbolic(__SIZE_TYPE__);
__SIZE_TYPE__ sc_heap_most(void);

void *malloc(__SIZE_TYPE__ size)
{
    __SIZE_TYPE__ known = size, most, bit;
    void *made;
    if (__score_is_symbolic(size)) {
        most = sc_heap_most();
        if (size > most) {
            errno = ENOMEM;
            return 0;
        }
        known = 0;
        for (bit = 1; bit <= most; bit <<= 1) if (size & bit) known |= bit;
    }
    made = sc_heap_allocate(known);
    if (!made) errno = ENOMEM;
    return made;
}
