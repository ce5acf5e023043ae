/* bytes: 1; constructs: enums, typedefs, enum in switch and comparison, constants from enumerators; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

typedef enum { LOW = -2, MIDDLE, HIGH = 40, TOP } level_t;
typedef unsigned char byte;
typedef struct node { byte value; level_t level; } node_t;
enum { LIMIT = HIGH * 2 };

static level_t grade(byte b)
{
    if (b > LIMIT)
        return b > 200 ? TOP : HIGH;
    return b < 16 ? LOW : MIDDLE;
}

int main(void)
{
    node_t n;
    int score = 0;
    SYM_U8(n.value);
    n.level = grade(n.value);
    switch (n.level) {
    case LOW:
        score = 1;
        break;
    case MIDDLE:
        score = 2;
        break;
    case HIGH:
        score = 3;
        break;
    case TOP:
        score = 4;
        break;
    }
    if (n.level < 0)
        score += 10;
    if (n.level + n.value == TOP + 220)
        score += 20;
    printf("%d %d\n", score, (int)n.level);
    return 0;
}
