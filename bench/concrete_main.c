#include <score.h>

unsigned concrete(void);

static unsigned char key[8]; /* symbolic memory, as most programs under test have it */

int main(void)
{
    unsigned sum = 0, i;
    SYM_BYTES(key, sizeof key);
    for (i = 0; i < 4; i++) sum += concrete();
    return key[0] == 'x' ? (int)(sum & 1u) : 2;
}
