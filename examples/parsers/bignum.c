/* libtommath 1.2.0, the arithmetic of keys: a number in five symbolic characters. What it is written as is read as the
   same number. */
#include <tommath.h>

#include "score.h"

#define LENGTH 5
#define RADIX 16

int main(void)
{
    char text[LENGTH + 1], written[LENGTH + 2];
    mp_int number, again;

    SYM_BYTES(text, LENGTH);
    text[LENGTH] = '\0';
    if (mp_init(&number) != MP_OKAY || mp_init(&again) != MP_OKAY)
        return 2;
    if (mp_read_radix(&number, text, RADIX) != MP_OKAY)
        return 1;
    SCORE_ASSERT(mp_to_radix(&number, written, sizeof written, NULL, RADIX) == MP_OKAY);
    SCORE_ASSERT(mp_read_radix(&again, written, RADIX) == MP_OKAY);
    SCORE_ASSERT(mp_cmp(&number, &again) == MP_EQ);
    mp_clear(&number);
    mp_clear(&again);
    return 0;
}
