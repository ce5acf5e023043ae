int strncmp(const char *left, const char *right, __SIZE_TYPE__ most)
{
    for (; most; left++, right++, most--) {
        if (*left != *right) return (unsigned char)*left - (unsigned char)*right;
        if (!*left) return 0;
    }
    return 0;
}
