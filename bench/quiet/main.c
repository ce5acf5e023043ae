/* The same work on data that is symbolic and on data that is not: so its code has all its probes, and they have nothing
 * to say. */
#include <score.h>

#ifndef TIMES
#define TIMES 4
#endif
#define SIZE 512u

unsigned work(unsigned char *data, unsigned n);

static unsigned char key[16], data[SIZE];

int main(void)
{
    unsigned sum = 0, seed = 1, i, k;
    SYM_BYTES(key, sizeof key);
    for (i = 0; i < SIZE; i++) {
        seed = seed * 1103515245u + 12345u;
        data[i] = (unsigned char)(seed >> 16);
    }
    for (k = 0; k < TIMES; k++) sum += work(data, SIZE);
    if (key[0] == 'x') sum += work(key, sizeof key);
    return (int)(sum & 1u);
}
