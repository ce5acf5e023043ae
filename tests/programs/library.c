/* bytes: 2; constructs: functions of the C library that have models: copies, strings, characters, numbers, sorting; grouped-labels: no; folded-conditional: yes */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "score.h"

struct pair { char left, right; };

static int by_value(const void *a, const void *b)
{
    return *(const unsigned char *)a - *(const unsigned char *)b;
}

static int number(const char *text)
{
    char digits[8], *end;
    long value;
    memset(digits, 0, sizeof digits);
    strcpy(digits, "1");
    strncat(digits, text, 2);
    value = strtol(digits, &end, 10);
    if (value == 142) return 1;
    if (end == digits + 2) return 2;
    return 0;
}

static int words(const char *text)
{
    struct pair pair;
    __builtin_memcpy(&pair, text, sizeof pair);
    if (strcmp(text, "if") == 0) return 3;
    if (strchr("+-*", pair.left) && pair.left) return isdigit((unsigned char)pair.right) ? 4 : 5;
    if (toupper((unsigned char)pair.left) == 'Q') return 6;
    return isspace((unsigned char)pair.left) && isalpha((unsigned char)pair.right) ? 7 : 0;
}

static int blocks(const unsigned char *bytes)
{
    unsigned char copy[4] = {9, 5, 7, 1};
    size_t size = bytes[0] & 3u;
    memcpy(copy, "abcd", size);
    memset(copy + 3, bytes[1], 1);
    if (copy[3] == 200) return 8;
    qsort(copy, 4, 1, by_value);
    if (bsearch(&bytes[1], copy, 3, 1, by_value)) return 9;
    return copy[3] == bytes[1] ? 10 : abs(bytes[1] - 100) == 30 ? 11 : 0;
}

int main(void)
{
    char text[3];
    int a, b, c;
    SYM_BYTES(text, 2);
    text[2] = 0;
    a = number(text);
    b = words(text);
    c = a || b ? 0 : blocks((const unsigned char *)text);
    printf("%d %d %d\n", a, b, c);
    return 0;
}
