/* libtomcrypt 1.18.2, which firmware uses for certificates: a DER UTF8String of five symbolic bytes. What lies behind
   the message is not the decoder's: whatever it is, the result is the same. */
#include <tomcrypt.h>

#include "score.h"

#define LENGTH 5

static int decode(const unsigned char *message, unsigned char behind, wchar_t *out, unsigned long *count)
{
    unsigned char buffer[LENGTH + 1];

    for (int i = 0; i < LENGTH; i++)
        buffer[i] = message[i];
    buffer[LENGTH] = behind;
    *count = LENGTH;
    return der_decode_utf8_string(buffer, LENGTH, out, count);
}

int main(void)
{
    unsigned char message[LENGTH];
    wchar_t first[LENGTH], second[LENGTH];
    unsigned long first_count, second_count;

    SYM_BYTES(message, sizeof message);
    int result = decode(message, 0x00, first, &first_count);
    SCORE_ASSERT(decode(message, 0x80, second, &second_count) == result);
    if (result != CRYPT_OK)
        return 0;
    SCORE_ASSERT(first_count == second_count);
    for (unsigned long i = 0; i < first_count; i++)
        SCORE_ASSERT(first[i] == second[i]);
    return 0;
}
