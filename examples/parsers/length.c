/* cJSON 1.7.15 again: texts of six bytes with nothing behind them, in a block of the heap of just that size. What reads
   beyond the length that it was told is found at once. */
#include <cJSON.h>
#include <stdlib.h>

#include "score.h"

#define LENGTH 6

int main(void)
{
    char *text = malloc(LENGTH);

    if (!text)
        return 1;
    SYM_BYTES(text, LENGTH);
    cJSON_Delete(cJSON_ParseWithLength(text, LENGTH));
    free(text);
    return 0;
}
