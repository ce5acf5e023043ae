/* bytes: 1; constructs: float, double, conversions of all integer types, comparisons, unordered, compound assignment, increments, unions, arguments; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include <string.h>
#include "score.h"

union pattern {
    float number;
    __UINT32_TYPE__ bits;
    unsigned char bytes[4];
};
struct sample {
    char channel;
    float value;
    double sum;
};
static double total = 0.25;
static const float table[] = {0.5f, -1.25f, 3e2f, 0x1.8p-1f};
static volatile float port;

static float scaled(float x, int gain) { return x * gain - .5f; }
static double mean(struct sample s) { return (s.value + s.sum) / 2; }
static struct sample sampled(float v)
{
    struct sample s;
    s.channel = 'x';
    s.value = v;
    s.sum = v * 3.0;
    return s;
}
static void print(float x)
{
    union pattern p;
    p.number = x;
    printf("%x %x\n", (unsigned)(p.bits >> 16), (unsigned)(p.bits & 0xffff));
}

int main(void)
{
    signed char c;
    float f, g, t[2], *at = &t[1];
    double d;
    union pattern p;
    struct sample s;
    __UINT32_TYPE__ copied;
    int n = 0;
    SYM_I8(c);
    f = c;
    if (f > 3.5f) n++;
    if (f * 0.1f == 0.5f) n += 2;
    f /= 3;
    if (f >= 33.333332f) n += 4;
    g = scaled(f, c);
    if (g < -0.25) n += 8;
    t[0] = g, *at = t[0] + f;
    if (!(t[1] <= 20)) n += 16;
    print(t[1]);
    d = c * 0.01;
    d += f++;
    --f;
    total = d > 0 ? d : -d;
    if (total != 0.1) n += 32;
    p.number = f;
    p.bits ^= 0x80000000u;
    if (p.number == 2.0f) n += 64;
    if (p.bytes[3] & 0x80) n += 128;
    memcpy(&copied, at, sizeof copied);
    s = sampled((float)total);
    if (mean(s) > 2.5f && s.sum < 7.25) n += 256;
    if (table[c & 3] > 0.6f) n += 512;
    f = c ? 7.0f / c : 0;
    if ((int)f == 3 || (unsigned char)(f * f) == 1) n += 1024;
    if ((long)(f * 1000) % 7 == 2) n += 2048;
    f = (float)(unsigned long)((long)c * 16777259L) + (float)(unsigned short)c + (float)(_Bool)f;
    print(f);
    g = (c & 1 ? 0.0f : 1.0f) * (c > 100 ? 1e38f * 1e10f : 1.0f);
    if (g == g ? g > 1 : f != f) n += 4096;
    if (g != g) n += 8192;
    port = c;
    if (port < -5) n += 16384;
    if (f && !(c + 1.5)) n = 0;
    printf("%d %x %d\n", n, (unsigned)(copied >> 20), (short)(d * 10));
    return (_Bool)g;
}
