/* Snapshots: a test that begins as the one before did goes on in the midst of it (snapshot.c says when it may).
 *
 * Only where a port can keep what the program's memory and registers are (SC_SNAPSHOTS: how many at most); elsewhere
 * nothing of this is there. */
#ifndef SC_SNAPSHOT_H
#define SC_SNAPSHOT_H

#include "state.h"

#ifdef SC_SNAPSHOTS
/* Where the program was given bytes of the input. */
typedef struct {
    sc_uptr at, size; /* bytes */
    sc_u32 offset;    /* in the test's input, bytes */
    sc_u32 deep;      /* on the stack: the depth of the activation that was given them; else 0 */
} sc_input_place;

extern sc_mark sc_here;
extern sc_u32 sc_snapshots_used;
extern sc_input_place sc_places[];
extern sc_u8 sc_touched[SC_INPUT_CAPACITY]; /* not 0: the program may know this byte of the input */

void sc_touch_each(sc_uptr p, sc_size n);
void sc_snapshot(void); /* the program is at sc_here */

/* A RUN with these flags has come; this will be instead of so many bytes of the input; the run begins, from where a
 * snapshot has it, if one is of use, and else from the program's begin. */
void sc_snapshots_offer(sc_u32 flags);
void sc_snapshots_change(sc_u32 offset, const sc_u8 *to, sc_u32 n);
void sc_snapshots_go(void);

#define SC_NEVER 0xFFFFFFFFu

/* No more of them in this run. */
static inline void sc_snapshots_end(void)
{
    sc.snapshot_at = SC_NEVER;
}

/* Nor is what there is of any use. */
void sc_snapshots_drop(void);

/* An activation has given the program so many bytes of the test's input at p; null: in a register. */
void sc_snapshots_declare(const void *p, sc_u32 offset, sc_size n);

/* A probe looked at n bytes of memory at p, and some are symbolic: the program may know their values from now on. */
static inline void sc_touch(const void *p, sc_size n)
{
    sc_uptr at = (sc_uptr)p - sc_places[0].at;
    if (n != 1u || at >= sc_places[0].size || !sc_touched[sc_places[0].offset + at]) sc_touch_each((sc_uptr)p, n);
}

/* A condition has been told, and the basic block ends: what the program reads from here on is not in a register yet. */
static inline void sc_condition_ends(void)
{
    if (__builtin_expect(sc.conditions >= sc.snapshot_at, 0)) sc_port_mark(&sc_here, sc_snapshot);
}
#else
#define sc_snapshots_offer(flags) ((void)0)
#define sc_snapshots_change(offset, to, n) ((void)0)
#define sc_snapshots_go() sc_port_run(sc.watchdog_ms)
#define sc_snapshots_end() ((void)0)
#define sc_snapshots_drop() ((void)0)
#define sc_snapshots_declare(p, offset, n) ((void)(offset))
#define sc_touch(p, n) ((void)0)
#define sc_condition_ends() ((void)0)
#endif

#endif
