__SIZE_TYPE__ strnlen(const char *text, __SIZE_TYPE__ most)
{
    __SIZE_TYPE__ i = 0;
    while (i < most && text[i]) i++;
    return i;
}
