/* cJSON 1.7.15, a JSON parser that builds a tree: all texts of eight bytes. A text that it accepts is accepted again
   without the white space around its parts, which cJSON_Minify removes. */
#include <cJSON.h>

#include "score.h"

#define LENGTH 8

int main(void)
{
    char text[LENGTH + 1];

    SYM_BYTES(text, LENGTH);
    text[LENGTH] = '\0';
    for (int i = 0; i < LENGTH; i++)
        SCORE_ASSUME(text[i] != '\0');
    cJSON *tree = cJSON_ParseWithLength(text, LENGTH);
    if (!tree)
        return 0;
    cJSON_Delete(tree);
    cJSON_Minify(text);
    tree = cJSON_Parse(text);
    SCORE_ASSERT(tree);
    cJSON_Delete(tree);
    return 0;
}
