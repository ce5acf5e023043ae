/* Snapshots: what a run is after one of its conditions, so that a later one can go on from there.
 *
 * A campaign's tests begin alike: depth first, all of a path but its end is what the path before was. What the program
 * is after a condition depends only on the bytes of the input that it has looked at by then. So if the next input
 * differs in others only, the next test need not do all that again: memory, registers and the run's account are
 * brought back, the other bytes are put where the program was given them, and it goes on.
 *
 * What the program has looked at: each of its reads of symbolic memory is told to a probe, not later than by the probe
 * of the branch that ends the basic block (docs/design/runtime.md, "Snapshots"). So a byte is *touched* when a probe
 * finds it symbolic, and snapshots are taken where the probe of a condition ends. Code without probes that was given
 * symbolic data, or that may change memory, ends them for this run. */
#include "snapshot.h"

#ifdef SC_SNAPSHOTS
#define PLACES 32u      /* inputs; more of them count as looked at when they are declared */
#define LEAST 4u        /* conditions from one to the next */
#define COST 64u        /* conditions that take as long as a snapshot, about, */
#define BYTES_EACH 1024u /* and of how many bytes one more does */
#define ROOM 0x200000u  /* bytes of all pieces */

/* A piece of memory as it was. Its bytes follow, and the next piece where words begin. */
typedef struct {
    void *at;
    sc_uptr size;
} piece;

static struct {
    sc_mark mark;
    sc_u32 conditions, touched, places, end; /* its pieces begin where those of the one before end */
} snapshots[SC_SNAPSHOTS] SC_RUNTIME_DATA;

static struct {
    sc_u32 count;    /* of snapshots: each is of a longer begin of the run */
    sc_u32 usable;   /* so many of them are a begin of the test that comes, too */
    sc_u32 special;  /* its RUN is a special one: no snapshots */
    sc_u32 touched;  /* bytes of the input, in `order` */
    sc_u32 places;   /* of inputs */
    sc_u32 fill;     /* bytes of the pieces */
    sc_u32 whole;    /* there was room for all of this snapshot */
    sc_u32 repeated; /* conditions, since the last snapshot was made */
    sc_u32 looked_at; /* bytes of memory, when one was made */
} now SC_RUNTIME_DATA;

sc_mark sc_here SC_RUNTIME_DATA;
sc_u32 sc_snapshots_used SC_RUNTIME_DATA; /* tests that went on at one, for tests of this */
sc_input_place sc_places[PLACES] SC_RUNTIME_DATA;
sc_u8 sc_touched[SC_INPUT_CAPACITY] SC_RUNTIME_DATA; /* 1 more than how many snapshots there were then */
static sc_d order[SC_INPUT_CAPACITY] SC_RUNTIME_DATA;
static sc_u64 room[ROOM / 8u] SC_RUNTIME_DATA;

static void touch_byte(sc_u32 offset)
{
    if (offset >= sc.input_size || sc_touched[offset]) return;
    sc_touched[offset] = (sc_u8)(now.count + 1u);
    order[now.touched++] = (sc_d)offset;
}

static void touch_all(sc_u32 offset, sc_size n)
{
    while (n--) touch_byte(offset++);
}

/* What lies on the stack may have ended, and other things may lie there: the bytes that nobody has looked at are not
 * there any more. That is so if an activation has ended since that is not deeper than the one that was given them: then
 * another one began, or the one that runs is less deep. */
static void settle_places(void)
{
    sc_u32 i;
    for (i = 0; i < now.places; i++) {
        sc_input_place *place = sc_places + i;
        if (!place->deep || (sc.depth >= place->deep && sc.began > place->deep)) continue;
        touch_all(place->offset, place->size);
    }
    sc.began = SC_NEVER;
}

void sc_touch_each(sc_uptr p, sc_size n)
{
    sc_u32 i;
    for (i = 0; i < now.places; i++) {
        const sc_input_place *place = sc_places + i;
        sc_uptr from = p > place->at ? p - place->at : 0, to = p + n - place->at;
        if (p + n <= place->at || from >= place->size) continue;
        if (to > place->size) to = place->size;
        if (to - from == n) i = now.places; /* all of it is here */
        for (; from < to; from++) touch_byte(place->offset + (sc_u32)from);
    }
}

/* Whether these bytes can be put there later: the taint map covers them, and they are of no other place (so a look at a
 * byte is a look at one place). */
static sc_u32 has_place(sc_uptr p, sc_size n)
{
    sc_u32 i;
    if (!p || now.places == PLACES || n > SC_RAM_SIZE || p - SC_RAM_BASE > SC_RAM_SIZE - n) return 0;
    for (i = 0; i < now.places; i++)
        if (p - sc_places[i].at < sc_places[i].size || sc_places[i].at - p < n) return 0;
    return 1;
}

void sc_snapshots_declare(const void *p, sc_u32 offset, sc_size n)
{
    sc_input_place *place = sc_places + now.places;
    settle_places();
    if (!has_place((sc_uptr)p, n)) {
        touch_all(offset, n);
        return;
    }
    place->at = (sc_uptr)p;
    place->size = n;
    place->offset = offset;
    place->deep = (sc_uptr)p - SC_STACK_BASE < SC_STACK_SIZE ? sc.depth : 0;
    now.places++;
}

void sc_keep(void *at, sc_size n)
{
    piece *p = (piece *)((sc_u8 *)room + now.fill);
    sc_size all = sizeof *p + ((n + 7u) & ~(sc_size)7u);
    if (n > ROOM || all > ROOM - now.fill) {
        now.whole = 0;
        return;
    }
    p->at = at;
    p->size = n;
    __builtin_memcpy(p + 1, at, n);
    now.fill += (sc_u32)all;
}

static void bring_back(sc_u32 from, sc_u32 to)
{
    while (from < to) {
        const piece *p = (const piece *)((const sc_u8 *)room + from);
        __builtin_memcpy(p->at, p + 1, p->size);
        from += (sc_u32)(sizeof *p + ((p->size + 7u) & ~(sc_uptr)7u));
    }
}

static sc_u32 begin_of(sc_u32 i)
{
    return i ? snapshots[i - 1u].end : 0;
}

/* What the runtime keeps besides is not in use. (Whoever asks for more than there is runs again with more.) */
static sc_u32 is_plain(void)
{
    return sc.input_used <= sc.input_size &&
           !(sc.before | sc.tables | sc.pointed | sc.sized | sc.lent | sc.opaque | sc.given | sc.log_sent);
}

/* Where to make one, if at all. What this run repeats of the one before is counted, and when that has cost as much as a
 * snapshot does, one is made: so they take at most half of the time, also where tests have little in common. Halfway to
 * where the ways part, as the tests that come next will part near that. */
static sc_u32 place(void)
{
#ifdef SC_SNAPSHOT_EACH /* in tests: after each condition */
    return now.special ? SC_NEVER : sc.conditions + 1u;
#else
    sc_u32 known = sc.predicted > sc.conditions ? sc.predicted - sc.conditions : 0;
    now.repeated += known;
    if (now.special || known < LEAST || now.repeated < COST + now.looked_at / BYTES_EACH) return SC_NEVER;
    now.repeated = 0;
    return sc.conditions + (known + 1u) / 2u;
#endif
}

void sc_snapshot(void)
{
    sc_u32 i = now.count;
    sc_snapshots_end();
    if (i == SC_SNAPSHOTS || !is_plain()) return;
    now.fill = begin_of(i);
    now.whole = 1;
    now.looked_at = sc_port_keep(&sc_here);
    if (!now.looked_at) return;
    settle_places();
    sc_event_hashed();
    sc_keep(&sc.path, (sc_size)((sc_u8 *)(&sc + 1) - (sc_u8 *)&sc.path));
    sc_keep(sc_recent, sizeof sc_recent);
    sc_locals_keep();
    sc_strays_keep();
    sc_taint_keep();
    if (!now.whole) return;
    snapshots[i].mark = sc_here;
    snapshots[i].conditions = sc.conditions;
    snapshots[i].touched = now.touched;
    snapshots[i].places = now.places;
    snapshots[i].end = now.fill;
    now.count++;
#ifdef SC_SNAPSHOT_EACH
    sc.snapshot_at = place();
#endif
}

void sc_snapshots_drop(void)
{
    now.count = now.usable = 0;
    sc_snapshots_end();
}

void sc_snapshots_offer(sc_u32 flags)
{
    now.special = flags & (SC_RUN_SHORT | SC_RUN_EAGER | SC_RUN_BOUNDED | SC_RUN_VECTORS);
    now.usable = now.special || flags & SC_RUN_FULL ? 0 : now.count;
}

void sc_snapshots_change(sc_u32 offset, const sc_u8 *to, sc_u32 n)
{
    sc_u32 i;
    for (i = 0; i < n; i++) {
        sc_u32 touched = sc_touched[offset + i];
        if (touched && touched - 1u < now.usable && sc_input[offset + i] != to[i]) now.usable = touched - 1u;
    }
}

static void forget_touched(sc_u32 count)
{
    while (now.touched > count) sc_touched[order[--now.touched]] = 0;
}

/* The program was given bytes of the input that it has not looked at: others of them are in their places now. */
static void give(void)
{
    sc_u32 i, k;
    for (i = 0; i < now.places; i++)
        for (k = 0; k < sc_places[i].size && sc_places[i].offset + k < sc.input_size; k++)
            if (!sc_touched[sc_places[i].offset + k])
                ((sc_u8 *)sc_places[i].at)[k] = sc_input[sc_places[i].offset + k];
}

void sc_snapshots_go(void)
{
    /* what is to be compared with the prediction must be yet to come */
    while (now.usable && sc.predicted && snapshots[now.usable - 1u].conditions >= sc.predicted) now.usable--;
    now.count = now.usable;
    forget_touched(now.count ? snapshots[now.count - 1u].touched : 0);
    now.places = now.count ? snapshots[now.count - 1u].places : 0;
    if (!now.places) sc_places[0].size = 0;
    sc.began = SC_NEVER;
    if (now.count) {
        bring_back(begin_of(now.count - 1u), snapshots[now.count - 1u].end);
        give();
        sc.matched = sc.predicted == 0;
        sc.mispredicted = sc.elision_failed = 0;
        if (sc.hashed > sc.elide) sc.hashed = sc.crc = 0;
        sc_snapshots_used++;
    }
    sc.snapshot_at = place();
    if (now.count) sc_port_go_on(&snapshots[now.count - 1u].mark, sc.watchdog_ms);
    else sc_port_run(sc.watchdog_ms);
}
#endif

#ifdef __x86_64__
/* An array of variable length: what lay in the one that was there before may not be there any more, though its function
 * goes on. */
void sc_stack_taken(void)
{
    sc_snapshots_end();
}
#endif
