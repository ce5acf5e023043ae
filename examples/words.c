/* A program as many are: it counts the words of its standard input, or with `-l` the lines. Nothing in it knows of
 * score-embed. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int lines = argc > 1 && strcmp(argv[1], "-l") == 0;
    int c, inside = 0, count = 0;

    while ((c = getchar()) != EOF) {
        if (lines) {
            count += c == '\n';
        } else if (isspace(c)) {
            inside = 0;
        } else if (!inside) {
            inside = 1;
            count++;
        }
    }
    printf("%d\n", count);
    return 0;
}
