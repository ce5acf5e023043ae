static unsigned short numbers[256];

unsigned work(unsigned char *data, unsigned n)
{
    unsigned i, k, sum = 0;
    for (i = 0; i < n / 2; i++) numbers[i] = (unsigned short)(data[2 * i] << 8 | data[2 * i + 1]);
    for (i = 1; i < n / 2; i++) {
        unsigned short v = numbers[i];
        for (k = i; k > 0 && numbers[k - 1] > v; k--) numbers[k] = numbers[k - 1];
        numbers[k] = v;
    }
    for (i = 0; i < n / 2; i++) sum = sum * 31u + numbers[i];
    return sum;
}
