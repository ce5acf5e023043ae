/* bytes: 2; constructs: snprintf, sprintf and sscanf: numbers that are printed and read again, widths, texts; grouped-labels: no; folded-conditional: yes */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "score.h"

int main(void)
{
    uint8_t x, y;
    char text[24], word[8];
    int n, number = 0, other = 0;
    unsigned short hex = 0;
    SYM_U8(x);
    SYM_U8(y);
    n = snprintf(text, sizeof text, "x=%3d,%02X;", x, y);
    if (n != 9) return 9;
    if (!strcmp(text, "x= 42,0F;")) printf("both ");
    if (text[2] == '2') printf("large ");
    if (sscanf(text, "x=%d,%hx%[;]", &number, &hex, word) != 3) return 8;
    if (number != x || hex != y) return 7;
    n = sprintf(text, "%c%-4dE", x & 1 ? '7' : 'q', (int8_t) y);
    if (sscanf(text, "%1d%d%s", &number, &other, word) == 3) printf("read %d ", other == -17);
    printf("%d\n", n);
    return 0;
}
