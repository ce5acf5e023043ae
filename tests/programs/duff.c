/* bytes: 1; constructs: switch into a loop (Duff), labels inside do, unusual control flow; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

int main(void)
{
    unsigned char a;
    int count, rounds, sum = 0;
    SYM_U8(a);
    count = a & 15;
    if (count == 0)
        return 1;
    rounds = (count + 3) / 4;
    switch (count % 4) {
    case 0:
        do {
            sum += 1;
            /* fall through */
    case 3:
            sum += 10;
            /* fall through */
    case 2:
            if (a > 250)
                sum += 7;
            sum += 100;
            /* fall through */
    case 1:
            sum += 1000;
        } while (--rounds > 0);
    }
    printf("%d\n", sum);
    return 0;
}
