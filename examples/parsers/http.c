/* http-parser 2.9.4, which node.js had: requests and answers of 16 bytes. What comes in two pieces, as TCP may cut it,
   is understood as what comes in one. */
#include <http_parser.h>

#include "score.h"

#define LENGTH 16
#define CUT 5

static const http_parser_settings nothing;

int main(void)
{
    char text[LENGTH];
    http_parser whole, cut;
    size_t parsed, first;

    SYM_BYTES(text, LENGTH);
    http_parser_init(&whole, HTTP_BOTH);
    http_parser_init(&cut, HTTP_BOTH);
    parsed = http_parser_execute(&whole, &nothing, text, LENGTH);
    first = http_parser_execute(&cut, &nothing, text, CUT);
    if (first == CUT && !cut.upgrade)
        first += http_parser_execute(&cut, &nothing, text + CUT, LENGTH - CUT);
    SCORE_ASSERT(first == parsed);
    SCORE_ASSERT(cut.http_errno == whole.http_errno);
    SCORE_ASSERT(cut.state == whole.state);
    SCORE_ASSERT(cut.content_length == whole.content_length);
    return 0;
}
