/* Second file of two_files.c. */
struct reading {
    unsigned char raw;
    int value;
};

int threshold = 50;

static int helper(int v) { return v * 2; }

struct reading convert(unsigned char raw)
{
    struct reading r = { raw, 0 };
    if (raw & 0x80)
        r.value = -helper(raw & 0x7f);
    else
        r.value = helper(raw);
    return r;
}

inline int limit(int v)
{
    if (v > 60)
        return 60;
    return v;
}

void adjust(struct reading *reading, int amount)
{
    if (reading->raw == 42)
        return;
    reading->value += limit(amount);
}

int scaled(int v)
{
    if (v == 2)
        return 5;
    return v + 1;
}
