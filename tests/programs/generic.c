/* bytes: 1; constructs: _Generic of values, calls and lvalues; _Atomic objects, members and pointers; grouped-labels: no; folded-conditional: no */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include "score.h"

typedef struct { _Atomic uint8_t state; atomic_int count; } device;
enum kind { FIRST, SECOND };

static int of_int(int x) { return x > 99 ? 1 : 2; }
static int of_pointer(const char *x) { return *x == '7' ? 3 : 4; }
static int of_other(long x) { return x == 50 ? 5 : 6; }

#define OF(x) _Generic((x), int: of_int, const char *: of_pointer, char *: of_pointer, default: of_other)(x)
#define NAME(x) _Generic((x), signed char: "schar", char: "char", unsigned char: "uchar", \
                         unsigned: "unsigned", int: "int", unsigned long: "ulong", default: "other")

static _Atomic int shared;
static device port;
static int plain = 1, other = 2;

static int poll(_Atomic uint8_t *p, _Atomic int limit)
{
    _Atomic(int) local = *p;
    shared = local * 2;
    if (local > limit)
        return shared;
    return -1;
}

int main(void)
{
    unsigned char x;
    const char text[2] = "a";
    char buffer[2];
    volatile short narrow;
    SYM_U8(x);
    buffer[0] = (char) x;
    narrow = x;
    printf("%d %d %d %d %d\n", OF((int) x), OF(buffer), OF("7"), OF((long) x), OF(x));
    printf("%s %s %s %s %s %s\n", NAME(x), NAME(buffer[0]), NAME(x + 1), NAME(sizeof x), NAME(narrow), NAME(_Generic(SECOND, int: (long) x, default: x)));
    _Generic(plain, int: plain, default: other) = x;
    if (_Generic(&text[0], const char *: plain, default: 0) == 33)
        puts("lvalue");
    port.state = x;
    port.count = 5;
    if (poll(&port.state, 200) == 2 * 222)
        puts("atomic");
    printf("%d %d\n", other, (int) sizeof(_Generic(x, default: (char) 1)));
    return port.count;
}
