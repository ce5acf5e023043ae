/* bytes: 2; constructs: switch with grouped labels and ranges, nested switch, continue inside switch; grouped-labels: yes; folded-conditional: no */
#include <stdio.h>
#include "score.h"

static int kind(int c)
{
    switch (c) {
    case ' ':
    case '\t':
    case '\n':
        return 0;
    case '0' ... '9':
        return 1;
    case 'a' ... 'f':
    case 'A' ... 'F':
        return 2;
    default:
        return 3;
    }
}

int main(void)
{
    unsigned char text[2];
    int i, value = 0;
    SYM_BYTES(text, 2);
    for (i = 0; i < 2; i++) {
        switch (kind(text[i])) {
        case 0:
            continue;
        case 1:
            value = value * 16 + text[i] - '0';
            break;
        case 2:
            switch (text[i] & 0x20) {
            case 0:
                value = value * 16 + text[i] - 'A' + 10;
                break;
            case 0x20:
                value = value * 16 + text[i] - 'a' + 10;
            }
            break;
        default:
            value = -1;
            i = 2;
        }
    }
    printf("%d\n", value);
    return 0;
}
