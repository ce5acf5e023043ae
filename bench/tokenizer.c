/* A line tokenizer as it stands in many firmware shells: names, numbers, strings, comments and operators.
 * 82 symbolic bytes, the size the SCORE paper uses for its tokenizers. */
#include <stdio.h>

#include "score.h"

#ifndef SIZE
#define SIZE 82 /* symbolic bytes */
#endif

enum kind { END, NAME, NUMBER, HEX, STRING, OPERATOR, ERROR, KINDS };

static const char *text;

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static void skip_blanks(void)
{
    for (;;) {
        while (*text == ' ' || *text == '\t')
            text++;
        if (*text != '#')
            return;
        while (*text != '\0' && *text != '\n')
            text++;
        if (*text == '\n')
            text++;
    }
}

static enum kind number(void)
{
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        text += 2;
        if (!is_hex(*text))
            return ERROR;
        while (is_hex(*text))
            text++;
        return HEX;
    }
    while (is_digit(*text))
        text++;
    return is_letter(*text) ? ERROR : NUMBER;
}

static enum kind string(void)
{
    text++;
    while (*text != '"') {
        if (*text == '\0' || *text == '\n')
            return ERROR;
        if (*text == '\\' && text[1] != '\0')
            text++;
        text++;
    }
    text++;
    return STRING;
}

static enum kind operator_(void)
{
    switch (*text) {
    case '<':
    case '>':
    case '=':
        text++;
        if (*text == '=')
            text++;
        return OPERATOR;
    case '+':
    case '-':
    case '*':
    case '/':
    case '(':
    case ')':
    case ',':
    case ';':
    case '\n':
        text++;
        return OPERATOR;
    default:
        return ERROR;
    }
}

static enum kind next(void)
{
    skip_blanks();
    if (*text == '\0')
        return END;
    if (is_letter(*text)) {
        while (is_letter(*text) || is_digit(*text))
            text++;
        return NAME;
    }
    if (is_digit(*text))
        return number();
    if (*text == '"')
        return string();
    return operator_();
}

int main(void)
{
    char line[SIZE + 1];
    unsigned count[KINDS] = {0};
    enum kind kind;

    SYM_BYTES(line, sizeof line - 1);
    line[SIZE] = '\0';
    text = line;
    do {
        kind = next();
        count[kind]++;
    } while (kind != END && kind != ERROR);
#ifndef SILENT
    printf("%u names, %u numbers\n", count[NAME], count[NUMBER] + count[HEX]);
#endif
    return 0;
}
