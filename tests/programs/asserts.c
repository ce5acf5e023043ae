/* bytes: 2; constructs: SCORE_ASSUME, SCORE_ASSERT, assert, exit with a status, return of main; grouped-labels: no; folded-conditional: no */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include "score.h"

int main(void)
{
    unsigned char a, b;
    SYM_U8(a);
    SYM_U8(b);
    SCORE_ASSUME(a <= b);
    if (a == 3) {
        printf("leaving\n");
        exit(b > 30 ? 2 : 5);
    }
    SCORE_ASSERT(a != 9 || b != 99);
    assert(a + b != 300);
    SCORE_ASSUME(b != 200);
    printf("%d\n", a + b);
    return a > 100;
}
