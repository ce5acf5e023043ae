/* bytes: 1; constructs: variable length arrays, of two dimensions, in loops and recursion, pointers to them and typedefs of them; sizeof; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

static int row_sum(int n, const unsigned char row[n])
{
    int i, sum = 0;
    for (i = 0; i < n; i++)
        sum += row[i];
    return sum;
}

static int corner(int n, int m, int grid[n][m + 1])
{
    int last = n - 1;
    n = m = 0; /* nothing to the array */
    grid[last][2]++;
    return grid[last][2] - grid[last][0] + (int) (sizeof grid[0] / sizeof grid[0][0]);
}

/* What a block takes it gives back: else the stack would run over. */
static long loops(int turns)
{
    long sum = 0;
    int i;
    for (i = 0; i < turns; i++) {
        unsigned char outer[i % 5 + 40];
        outer[i % 40] = (unsigned char) i;
        {
            short inner[2][i % 3 + 20];
            int k;
            for (k = 0; k < 3; k++) {
                char last[k + 1];
                last[k] = 1;
                inner[1][k] = last[k];
            }
            sum += outer[i % 40] + inner[1][2] + (long) sizeof inner[0];
        }
    }
    return sum;
}

static int depth(int n)
{
    int kept[n + 1];
    kept[n] = n;
    return n ? kept[n] + depth(n - 1) : kept[0];
}

static int walked(int rows, int columns, short grid[rows][columns])
{
    typedef short row[columns];
    row *p = grid, *end = grid + rows;
    short (*last)[columns] = end - 1;
    int sum = 0;
    columns = 0; /* the types stay as they are */
    for (; p < end; p++)
        sum += (*p)[1] * (int) (end - p);
    p -= rows - 1;
    if (p[0][2] > 200)
        sum++;
    row copy;
    copy[0] = last[-1][1];
    return sum + copy[0] + (int) (sizeof(row) / sizeof **last) + (last == &grid[rows - 1]);
}

int main(void)
{
    unsigned char x;
    int i, n = 4, w = 3;
    SYM_U8(x);
    unsigned char line[n * 2];
    int grid[n][w];
    n = 100; /* the arrays stay as they are */
    for (i = 0; i < (int) sizeof line; i++)
        line[i] = i == 5 ? x : (unsigned char) i;
    for (i = 0; i < 4 * w; i++)
        grid[i / w][i % w] = i * 3;
    grid[2][1] = x;
    *(line + 1) = x;
    if (line[5] == 77)
        puts("line");
    if (row_sum(8, line) == 200)
        puts("sum");
    grid[3][2] = x;
    if (corner(4, 2, grid) == 97)
        puts("corner");
    if (grid[2][1] - grid[2][0] == 99)
        puts("grid");
    short steps[3][4] = { { 1, 2, 3, 4 }, { 5, x, x, 8 }, { 9, 10, 11, 12 } };
    if (walked(3, n - 96, steps) == 139)
        puts("walked");
    if (x >= 250) {
        int m = x == 253 ? 8 : 5; /* a size that depends on input would be used as it is */
        char small[m];
        small[m - 1] = (char) (x - 200);
        if (sizeof small == 8)
            puts("size");
        if (small[m - 1] == 51)
            puts("last");
        printf("%d %d\n", (int) sizeof small, small[m - 1]);
    }
    printf("%d %d %d %ld %d\n", (int) sizeof line, (int) (sizeof grid / sizeof **grid), (int) sizeof(char[w + 2]),
           loops(500), depth(9));
    return 0;
}
