#include <stdlib.h>

div_t div(int a, int b)
{
    div_t result;
    result.quot = a / b;
    result.rem = a % b;
    return result;
}
