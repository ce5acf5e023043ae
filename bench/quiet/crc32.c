static unsigned table[256];

unsigned work(unsigned char *data, unsigned n)
{
    unsigned crc = ~0u, i, k;
    if (!table[1])
        for (i = 0; i < 256; i++) {
            unsigned c = i;
            for (k = 0; k < 8; k++) c = c & 1u ? c >> 1 ^ 0xEDB88320u : c >> 1;
            table[i] = c;
        }
    for (i = 0; i < 8 * n; i++) crc = crc >> 8 ^ table[(crc ^ data[i % n]) & 255u];
    return ~crc;
}
