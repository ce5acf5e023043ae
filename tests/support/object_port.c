/* What runtime/object.c needs of the runtime, for a test of it alone: commands come on standard input, answers go out.
 *
 *   l AT SIZE DEPTH   a variable on the stack is declared
 *   e DEPTH           an activation of this depth begins
 *   v AT DEPTH        which variable is this byte of, and which one ends where it begins? */
#include <stdio.h>

#include "state.h"

sc_state sc;
extern const sc_uptr listed[];
__asm__(".section sc_extents, \"a\"\n.balign 8\nlisted: .quad 0x1000, 16, 0x1010, 8, 0x1100\n"
        ".quad 0x8000000000000004, 0x2000, 4096, -1, 0, -1, 0\n.text");

void sc_clear(const void *p, sc_size n) { (void)p, (void)n; }

int main(void)
{
    char op;
    unsigned long long at, a, b;
    while (scanf(" %c %llu", &op, &at) == 2) {
        sc_extent found, before;
        if (op == 'l' && scanf("%llu %llu", &a, &b) == 2) {
            sc.depth = (sc_u32)b;
            sc_local((const void *)at, a);
        } else if (op == 'e') {
            sc.depth = (sc_u32)at;
            if (sc.depth < sc.entered) sc.entered = sc.depth;
        } else if (op == 'v' && scanf("%llu", &a) == 1) {
            sc.depth = (sc_u32)a;
            found = sc_variable((const void *)at, &before);
            if (!found.size) printf("-\n");
            else
                printf("%llu %llu %llu\n", (unsigned long long)(sc_uptr)found.at, (unsigned long long)found.size,
                       (unsigned long long)before.size);
        } else return 1;
    }
    return listed[0] != 0x1000;
}
