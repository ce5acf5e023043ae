int strcmp(const char *left, const char *right)
{
    for (; *left == *right; left++, right++)
        if (!*left) return 0;
    return (unsigned char)*left - (unsigned char)*right;
}
