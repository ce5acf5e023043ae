char *strncpy(char *to, const char *from, __SIZE_TYPE__ size)
{
    __SIZE_TYPE__ i = 0;
    for (; i < size && from[i]; i++) to[i] = from[i];
    for (; i < size; i++) to[i] = 0;
    return to;
}
