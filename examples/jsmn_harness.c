/* jsmn, a JSON parser for microcontrollers that is one header: all texts of 24 bytes. */
#include <stdio.h>

#include <jsmn.h>

#include "score.h"

int main(void)
{
    char text[24];
    jsmn_parser parser;
    jsmntok_t tokens[16];

    SYM_BYTES(text, sizeof text);
    jsmn_init(&parser);
    printf("jsmn_parse: %d\n", jsmn_parse(&parser, text, sizeof text, tokens, 16));
    return 0;
}
