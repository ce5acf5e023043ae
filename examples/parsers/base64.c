/* libb64 1.2, a base64 decoder, on four symbolic characters. What MIME says must hold: a character outside the
   alphabet is skipped, so that the text without it decodes to the same. */
#include <b64/cdecode.h>

#include "score.h"

#define LENGTH 4

static int in_alphabet(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
}

static int decode(const char *text, int length, char *out)
{
    base64_decodestate state;

    base64_init_decodestate(&state);
    return base64_decode_block(text, length, out, &state);
}

int main(void)
{
    char text[LENGTH], clean[LENGTH], from_text[LENGTH], from_clean[LENGTH];
    int length = 0;

    SYM_BYTES(text, sizeof text);
    for (int i = 0; i < LENGTH; i++) {
        SCORE_ASSUME(text[i] != '='); /* padding ends a text */
        if (in_alphabet(text[i]))
            clean[length++] = text[i];
    }
    SCORE_ASSERT(decode(text, LENGTH, from_text) == decode(clean, length, from_clean));
    return 0;
}
