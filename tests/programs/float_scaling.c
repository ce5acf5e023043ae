/* bytes: 2; constructs: scaled measurements, a controller over struct members, doubles from 16 bits, float loops, casts in both directions; grouped-labels: no; folded-conditional: no */
#include <stdio.h>
#include "score.h"

struct controller {
    float kp, ki, integral, last;
};
static struct controller heater = {2.5f, 0.125f, 0, 20};

static float celsius(unsigned short raw)
{
    float volts = raw * (3.3f / 65535);
    return (volts - 0.5f) * 100.0f;
}
static float clamped(float x, float low, float high) { return x < low ? low : x > high ? high : x; }
static float step(struct controller *c, float target, float measured)
{
    float error = target - measured;
    c->integral = clamped(c->integral + error * 0.1f, -10, 10);
    c->last = measured;
    return c->kp * error + c->ki * c->integral;
}

int main(void)
{
    unsigned short raw;
    float t, out;
    double power;
    int duty, i, n = 0;
    SYM_U16(raw);
    t = celsius(raw);
    if (t < -40.0f || t > 125.5f) {
        printf("sensor %d\n", (int)t);
        return 1;
    }
    for (i = 0; i < 2; i++) {
        out = step(&heater, 21.5f, t);
        t += out * 0.01f;
        if (out > 50) n++;
    }
    duty = (unsigned char)clamped(out + 50, 0, 100);
    power = duty / 100.0 * 24;
    if (power >= 12.24) n += 4;
    if ((float)power * 2 == 24.0) n += 8;
    if (heater.integral == -10 && heater.last > 60.25) n += 16;
    if ((short)(power * power) % 5 == 3) n += 32;
    printf("%d %d %d\n", duty, n, (int)(power * 100));
    return 0;
}
