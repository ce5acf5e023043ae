int tolower(int);

int strncasecmp(const char *left, const char *right, __SIZE_TYPE__ most)
{
    for (; most; left++, right++, most--) {
        int a = tolower((unsigned char)*left), b = tolower((unsigned char)*right);
        if (a != b) return a - b;
        if (!a) return 0;
    }
    return 0;
}
