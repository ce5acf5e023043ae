char *stpcpy(char *to, const char *from)
{
    for (; (*to = *from); to++, from++) {}
    return to;
}
