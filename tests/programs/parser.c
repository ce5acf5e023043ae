/* bytes: 2; constructs: a tokenizer over a buffer: loop, pointer walk, switch, state machine; grouped-labels: yes; folded-conditional: no */
#include <stdio.h>
#include "score.h"

enum state { START, NUMBER, WORD, FAIL };

int main(void)
{
    char text[3];
    const char *p = text;
    enum state state = START;
    int words = 0, value = 0;
    SYM_BYTES(text, 2);
    text[2] = 0;
    while (*p != 0 && state != FAIL) {
        switch (*p) {
        case '+':
        case '-':
            state = state == START ? NUMBER : FAIL;
            break;
        case ' ':
            state = START;
            break;
        default:
            if (*p >= '0' && *p <= '9') {
                value = value * 10 + (*p - '0');
                state = NUMBER;
            } else if (*p >= 'a') {
                if (state != WORD)
                    words++;
                state = WORD;
            } else {
                state = FAIL;
            }
        }
        p++;
    }
    printf("%d %d %d\n", (int)state, words, value);
    return 0;
}
