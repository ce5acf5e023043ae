/* bytes: 2; constructs: unions, type punning, union in struct, bytes of a wider integer; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

union word {
    unsigned short whole;
    unsigned char part[2];
    signed char sign;
};

struct tagged {
    int kind;
    union {
        int number;
        union word word;
    } u;
};

int main(void)
{
    union word w, copy;
    struct tagged t;
    SYM_U16(w.whole);
    copy = w;
    copy.part[1] = 0;
    t.kind = 1;
    t.u.number = -1;
    if (w.part[0] == 0x7f)
        t.u.word = w;
    if (copy.whole > 200)
        t.kind = 2;
    if (w.sign < 0)
        t.kind += 4;
    if ((t.u.number & 0xffff) == 0x127f)
        t.kind += 8;
    w.part[0] ^= w.part[1];
    if (w.whole == 0x3434)
        t.kind += 16;
    printf("%d %d\n", t.kind, copy.whole);
    return 0;
}
