char *strncat(char *to, const char *from, __SIZE_TYPE__ most)
{
    char *end = to;
    while (*end) end++;
    for (; most && *from; most--) *end++ = *from++;
    *end = 0;
    return to;
}
