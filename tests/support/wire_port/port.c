/* A port whose link is standard input and output, to be compiled with sanitizers.
 *
 * `loop`: the whole test loop answers what it is sent. `frames`: every frame taken is printed ("F type size crc32",
 * or "E" for a damaged one). `encode`: standard input becomes the payload of one frame. `taint`: operations on the
 * taint map, one a line; what they find is printed. `step`: the test loop, but bytes go in and out in lock-step: each
 * portion has its size before it (u32), and is answered by all that the loop said to it. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "state.h"

SC_IMAGE(40, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

static jmp_buf back;
int sc_main(int argc, char **argv);
void wire_exit(int status) __attribute__((noreturn));

int sc_main(int argc, char **argv)
{
    enum { WHAT = 5, COND = 7 };
    static const sc_d table[] = {16, 0, 1, 0, 0, 1, SC_SLOT(0, 1), 2, 0, 0, 1, SC_SLOT(0, 1)};
    SC_ACTIVATION(1) own;
    sc_u32 i, v;
    (void)argc;
    (void)argv;
    sc_enter(&own.head, table, (const void *)sc_main);
    v = (sc_u32)sc_sym_slot(&own.head, WHAT);
    for (i = 0; i < v; i++) sc_cond1(&own.head, COND, i & 1u, v);
    sc_log("out", 3);
    sc_leave(&own.head);
    return (int)v;
}

void wire_exit(int status)
{
    sc_end(SC_VERDICT_EXIT, status);
}

static struct {
    sc_u32 on, left, size;
    sc_u8 said[1 << 20];
} step;

/* The portion is used up: tell what was said to it, and take the next. */
static void next_step(void)
{
    if (fwrite(&step.size, 4, 1, stdout) != 1 || fwrite(step.said, 1, step.size, stdout) != step.size) exit(5);
    fflush(stdout);
    step.size = 0;
    if (fread(&step.left, 4, 1, stdin) != 1) exit(0);
}

sc_u32 sc_port_read(sc_u8 *to, sc_u32 n)
{
    size_t got;
    if (step.on) {
        while (!step.left) next_step();
        if (n > step.left) n = step.left;
        step.left -= n;
    }
    got = fread(to, 1, n, stdin);
    if (!got) {
        fflush(stdout);
        exit(0);
    }
    return (sc_u32)got;
}

void sc_port_push(void) {}

void sc_port_write(const sc_u8 *from, sc_u32 n)
{
    if (!step.on) {
        fwrite(from, 1, n, stdout);
        return;
    }
    if (n > sizeof step.said - step.size) exit(6);
    memcpy(step.said + step.size, from, n);
    step.size += n;
}

void sc_port_restore(void)
{
}

void sc_port_run(sc_u32 watchdog_ms)
{
    (void)watchdog_ms;
    if (!setjmp(back)) sc_program();
    sc.running = 0;
}

void sc_port_stop(void)
{
    longjmp(back, 1);
}

void sc_port_reset(void)
{
}

sc_u32 sc_port_free_ram(void)
{
    return 0;
}

static void frames(void)
{
    int byte;
    while ((byte = getchar()) != EOF) {
        const sc_u8 *payload = 0;
        sc_u32 size = 0;
        sc_i32 type = sc_frame_take((sc_u8)byte, &payload, &size);
        if (type == SC_FRAME_BAD) puts("E");
        else if (type >= 0) printf("F %d %u %u\n", (int)type, (unsigned)size, (unsigned)sc_crc32(0, payload, size));
    }
}

static void encode(void)
{
    static sc_u8 text[70000];
    size_t n = fread(text, 1, sizeof text, stdin);
    sc_frame_begin(SC_TYPE_LOG);
    sc_frame_put(text, (sc_u32)n);
    sc_frame_end();
}

static void taint(void)
{
    sc_u8 *ram = (sc_u8 *)(sc_uptr)SC_RAM_BASE;
    char op;
    unsigned a, b, n, i;
    if (mmap(ram, SC_RAM_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != ram)
        exit(3);
    sc.mispredicted = 1; /* events are made but not sent */
    sc.chunk = SC_CHUNK; /* what a RUN would have said */
    while (scanf(" %c %u %u %u", &op, &a, &b, &n) == 4) {
        switch (op) {
        case 's': sc_taint_set(ram + a, n); break;
        case 'c': sc_taint_clear(ram + a, n); break;
        case 'm': sc_taint_copy(ram + a, ram + b, n); break;
        case 'g': printf("%u\n", (unsigned)sc_taint_get(ram + a, n)); break;
        case 'a': printf("%u\n", (unsigned)sc_taint_get(ram + a, n) != 0); break;
        case 'r': sc_taint_reset(); break;
        case 'f': sc_taint_forget_dead(ram + a); break;
        case 'o': sc_shadow(1); break;
        case 'w': ram[a] = (sc_u8)n; break;
        case 'p': sc_shadow(0); break;
        case 'l': i = sc_event_count(), sc_taint_lost(ram + a, n), printf("%d\n", sc_event_count() != i); break;
        case 'd':
            for (i = 0; i < SC_RAM_SIZE; i++) {
                if (!(i & 31u) && !sc_taint_get(ram + i, 32)) i += 31u;
                else if (sc_taint_get(ram + i, 1)) printf("%u ", i);
            }
            puts("");
            break;
        default: exit(4);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "frames")) frames();
    else if (argc == 2 && !strcmp(argv[1], "encode")) encode();
    else if (argc == 2 && !strcmp(argv[1], "taint")) taint();
    else if (argc == 2 && !strcmp(argv[1], "loop")) sc_main_loop();
    else if (argc == 2 && !strcmp(argv[1], "step")) {
        step.on = 1;
        sc_main_loop();
    } else return 2;
    return 0;
}
