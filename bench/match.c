/* Looks up words of a line in a small table of words, and a pattern in a text: bytes compared with each other. */
#include <stdio.h>

#include "score.h"

enum { PATTERN = 5, TEXT = 16 };

static int find(const char *text, const char *pattern)
{
    for (int at = 0; text[at] != '\0'; at++) {
        int i = 0;

        while (pattern[i] != '\0' && (pattern[i] == '?' || pattern[i] == text[at + i]))
            i++;
        if (pattern[i] == '\0')
            return at;
    }
    return -1;
}

int main(void)
{
    char pattern[PATTERN + 1], text[TEXT + PATTERN + 1] = {0};
    int key, stored, at;

    SYM_BYTES(pattern, PATTERN);
    SYM_BYTES(text, TEXT);
    SYM_INT(key);
    SYM_INT(stored);
    pattern[PATTERN] = '\0';
    at = find(text, pattern);
    if (at > 0 && key == stored && key != 0)
        at += 100;
    printf("%d\n", at);
    return 0;
}
