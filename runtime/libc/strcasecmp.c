int tolower(int);

int strcasecmp(const char *left, const char *right)
{
    for (;; left++, right++) {
        int a = tolower((unsigned char)*left), b = tolower((unsigned char)*right);
        if (a != b) return a - b;
        if (!a) return 0;
    }
}
