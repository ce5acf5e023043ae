char *stpncpy(char *to, const char *from, __SIZE_TYPE__ size)
{
    __SIZE_TYPE__ i = 0, end;
    for (; i < size && from[i]; i++) to[i] = from[i];
    end = i;
    for (; i < size; i++) to[i] = 0;
    return to + end;
}
