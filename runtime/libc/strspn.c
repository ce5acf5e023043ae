__SIZE_TYPE__ strspn(const char *text, const char *accepted)
{
    const char *end = text, *c;
    for (;; end++) {
        for (c = accepted; *c && *c != *end; c++) {}
        if (!*c) return (__SIZE_TYPE__)(end - text);
    }
}
