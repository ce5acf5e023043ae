/* Work without symbolic data, as firmware does much of it: what do probes cost that have nothing to say? */
static unsigned table[256], numbers[200];
static unsigned char text[4096];

static void fill(void)
{
    unsigned seed = 1, i;
    for (i = 0; i < sizeof text; i++) {
        seed = seed * 1103515245u + 12345u;
        text[i] = (unsigned char)(seed >> 16);
    }
}

static unsigned crc32(const unsigned char *p, unsigned n)
{
    unsigned crc = ~0u, i, k;
    for (i = 0; i < 256; i++) {
        unsigned c = i;
        for (k = 0; k < 8; k++) c = c & 1u ? c >> 1 ^ 0xEDB88320u : c >> 1;
        table[i] = c;
    }
    while (n--) crc = crc >> 8 ^ table[(crc ^ *p++) & 255u];
    return ~crc;
}

static unsigned sorted(void)
{
    unsigned i, k, sum = 0;
    for (i = 0; i < 200; i++) numbers[i] = text[2 * i] << 8 | text[2 * i + 1];
    for (i = 1; i < 200; i++) {
        unsigned v = numbers[i];
        for (k = i; k > 0 && numbers[k - 1] > v; k--) numbers[k] = numbers[k - 1];
        numbers[k] = v;
    }
    for (i = 0; i < 200; i++) sum = sum * 31u + numbers[i];
    return sum;
}

unsigned concrete(void)
{
    fill();
    return crc32(text, sizeof text) ^ sorted();
}
