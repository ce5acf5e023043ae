/* The runtime's state in one place, and the functions its files call among themselves.
 *
 * All of it lives in the section .sc_data, which a test's restore leaves alone; it starts as zero. */
#ifndef SC_STATE_H
#define SC_STATE_H

#include "port.h"

typedef struct { sc_u32 a, b; } sc_hash;

/* Inputs in memory of which it is known where they are, for a bug's report. A small board's RAM is for other things. */
#if SC_RAM_SIZE >= 0x4000000u
#define SC_INPUTS_KNOWN 1024u
#elif SC_RAM_SIZE >= 0x10000u
#define SC_INPUTS_KNOWN 32u
#else
#define SC_INPUTS_KNOWN 0
#endif

typedef struct {
    const void *at;
    sc_u32 offset; /* in the test's input, bytes */
} sc_input_at;

#if __SIZEOF_POINTER__ > 4
typedef sc_u64 sc_wide; /* holds a count or an address */
#else
typedef sc_u32 sc_wide;
#endif

/* What is used most comes first: a Cortex-M reaches the first 128 bytes with shorter instructions. */
typedef struct {
#ifdef SC_QUIET_STATE /* these come first for instrumented code, too (quiet.h) */
    sc_u32 quiet;
#endif
    /* limits and predictions of the test that runs, from RUN */
    sc_u32 number, predicted, elide, elide_crc, max_branches, watchdog_ms;
    sc_u32 flags, tell_from;      /* of the RUN; after how many event bytes a run that is eager tells where it is */
    sc_u32 chunk;                 /* bytes that a TRACE, LOG or COVERAGE may carry: short ones survive a bad line */
    sc_u32 predicted_hash;        /* 16 bits of it, as of elide_crc: the host looks again, at all of them */
    sc_u32 input_size;
    sc_u32 coverage_new;          /* not 0: there is coverage that was not acknowledged */
    /* its running account: all that follows is 0 when it begins, but for the hashes */
    sc_hash path, condition, operand;
    sc_u32 last_depth, last_site;
    sc_u32 depth;                 /* of the activation that ran last */
    sc_u32 branches, conditions, input_used;
#ifdef SC_SNAPSHOTS
    sc_u32 snapshot_at;           /* so many conditions: the next snapshot */
    sc_u32 began;                 /* the least depth of an activation that began since inputs were looked at */
#endif
    sc_u32 before, fill;          /* event bytes that were in earlier chunks; that are in this one */
    sc_u32 hashed, crc;           /* how many of them the CRC-32 is of */
    sc_uptr last_address;
    sc_u32 sent;                  /* the last probe sent an event (for sc_value) */
    sc_u32 matched, mispredicted; /* the condition hash at `predicted` was as expected; was not */
    sc_u32 elision_failed;
    sc_u32 tables;                /* how many objects were sent (select.c) */
    sc_u32 locals;                /* how many are known on the stack (object.c) */
    sc_uint full;                 /* some that live are not known: since then */
    sc_u32 entered;               /* the least depth of an activation that began since these were looked at */
#if SC_RAM_SIZE >= 0x8000u
    sc_u32 pointed;               /* how many are known that tables of pointers lead to (pointed.c) */
    const sc_u8 *pointers;        /* the table of constants that was looked through last */
#endif
    /* objects that end where a number says (sized.c), once there is one */
    sc_u32 sized;
    const sc_uptr *(*limit_of)(const void *at);
    void (*measure)(const void *object, const void *p, sc_uptr n, sc_u32 holds);
    sc_u32 unchecked;             /* accesses whose object nobody knows (bounds.c) */
#ifdef SC_QUIET_STATE
    sc_u32 recent;                /* the greatest depth in sc_recent; 0: it has no object */
#endif
#if SC_INPUTS_KNOWN
    sc_u32 declared;              /* inputs in memory */
#endif
    sc_uptr device;               /* where the program read last what is no memory of its own */
    sc_u32 device_at;             /* and when, in branches */
    sc_uint waited;               /* not 0: it was memory, but of an object that may change by itself */
    sc_u32 seen;                  /* a site at which a handler saw symbolic data: said when the test has ended */
    /* memory was, or (no src) became something else: once there are strays */
    void (*moved)(const void *dst, const void *src, sc_size n);
    /* calls */
    const void *callee;           /* of the pending sc_call, or null */
    const SC_ROM sc_d *call;      /* its descriptor; its caller is the activation that ran last */
    const sc_frame *caller;
    const void *returned;
    sc_u32 result_taint, structs, struct_args_bound;
    sc_uint told;                 /* symbolic data was put out */
    sc_u32 given, given_at;       /* what code without probes was given, an event, and its site; not 0: not said yet */
    sc_uint lent;                 /* how many objects code without probes may know (lent.c) */
    sc_u32 (*reach)(void);        /* whether it finds symbolic data there, once there is such code */
    sc_u32 opaque;                /* the site of the opaque code that runs; not 0: the shadow is valid */
    void (*shadow)(sc_u32 take);  /* sc_shadow, once there was opaque code: other programs are linked without it */
    /* the heap (heap/heap.c), once it was used: the block that an address is in, and what is looked at in the end */
    sc_extent (*block)(const void *p, sc_u32 *freed);
    void (*audit)(void);
    /* the end */
    sc_u32 verdict, ended, log_sent;
    sc_i32 code;
    sc_wide pc, address;
    sc_u32 running;               /* the program has the processor */
    sc_u32 main_returned;         /* sc_main returned; exit() is running */
#ifdef SC_VERIFY
    sc_u32 value_bytes;           /* size of what the last probe stored */
#endif
    const void *struct_args[SC_MAX_STRUCTS], *struct_ret;
    /* enter sites of the activations, by depth, for the stack of a bug */
    sc_u32 stack[SC_STACK_SITES];
    sc_d stack_depth[SC_STACK_SITES];
} sc_state;

extern sc_state sc __asm__("sc_now"); /* in an image: a program may have an `sc` of its own */
extern sc_u8 sc_input[SC_INPUT_CAPACITY];
#if SC_INPUTS_KNOWN
extern sc_input_at sc_inputs[SC_INPUTS_KNOWN];
#endif

/* event.c: the event stream and the hashes */
void sc_event_start(void);
void sc_byte(sc_u32 byte);
void sc_varint(sc_u64 v);
void sc_signed(sc_i64 v);
void sc_address(const void *p);
void sc_event(sc_u32 dir);
void sc_note(sc_u32 kind, sc_u32 site);
/* The end of the stream that was not sent yet, and how many bytes were before it; the CRC is brought up to date. */
typedef struct { const sc_u8 *at; sc_u32 offset, size; } sc_tail;
void sc_event_tail(sc_tail *tail);
void sc_event_hashed(void); /* the CRC is brought up to date */
static inline sc_u32 sc_event_count(void) /* bytes made */
{
    return sc.before + sc.fill;
}
void sc_pass(sc_u32 what); /* of a run that is eager */

static inline void sc_mixed(sc_hash *h, sc_u32 x)
{
    sc_u32 a = (h->a ^ x) * SC_HASH_FACTOR_A;
    sc_u32 b = ((h->b << 5 | h->b >> 27) + x) * SC_HASH_FACTOR_B;
    h->a = a ^ a >> 13;
    h->b = b ^ b >> 16;
}

/* One more condition is in the hash when x is: is it the one the prediction was about? */
static inline void sc_next_condition(sc_u32 x)
{
    sc_mixed(&sc.condition, x);
    sc.conditions++;
    if (sc.conditions == sc.predicted) {
        if (((sc.condition.a ^ sc.condition.b) & 0xFFFFu) == sc.predicted_hash) sc.matched = 1;
        else sc.mispredicted = 1;
    }
}

#ifdef SC_QUIET_STATE /* where code may be large */
#define sc_mix sc_mixed
#define sc_condition sc_next_condition
#else
void sc_mix(sc_hash *h, sc_u32 x);
void sc_condition(sc_u32 x);
#endif

/* A run that is eager says where it is. */
static inline void sc_tell(void)
{
    if (sc.flags & SC_RUN_EAGER && sc_event_count() >= sc.tell_from) sc_pass(sc.last_site << 1 | 1u);
}

/* taint.c: one bit a byte of the program's RAM */
void sc_taint_reset(void);
sc_u32 sc_taint(const void *p, sc_size n, sc_u32 write, sc_u32 value);
void sc_taint_lost(const void *p, sc_size n);
void sc_taint_forget_dead(const void *end);
void sc_taint_copy(const void *dst, const void *src, sc_size n);
void sc_shadow(sc_u32 take);

#ifdef SC_SNAPSHOTS
/* snapshot.c: this memory comes back with the snapshot that is made. */
void sc_keep(void *at, sc_size n);
/* What modules keep of the test that runs, besides `sc`. */
void sc_locals_keep(void);
void sc_strays_keep(void);
void sc_taint_keep(void);
#endif

/* frame.c */
sc_u32 sc_crc32(sc_u32 crc, const sc_u8 *p, sc_u32 n);
void sc_frame_begin(sc_u32 type);
void sc_frame_put(const void *p, sc_u32 n);
void sc_frame_end(void);
enum { SC_FRAME_MORE = -1, SC_FRAME_BAD = -2 };
sc_i32 sc_frame_take(sc_u8 byte, const sc_u8 **payload, sc_u32 *size);

/* probe.c: an object may have ended, or is asked for where it ends (sized.c) */
#ifdef SC_QUIET_STATE
extern sc_recent_object sc_recent[SC_RECENT + 1u];
void sc_forget_recent(void);
#else
#define sc_forget_recent() ((void)0)
#endif

/* loop.c */
void sc_main_loop(void) __attribute__((noreturn));
void sc_program(void);
void sc_end(sc_u32 verdict, sc_i32 code) __attribute__((noreturn));
void sc_log(const void *p, sc_u32 n);
void sc_send_piece(sc_u32 type, sc_u32 offset, const void *p, sc_u32 n);
void sc_copy_bytes(void *to, const void *from, sc_size n);
void sc_fill_zero(void *to, sc_size n);

/* How far beyond a pointer opaque code is taken to look, where nobody knows the object. */
#define SC_REACH 1024u

/* What nobody can write: the host has it from the image. */
#ifndef SC_CONSTANT
#define SC_CONSTANT(p) ((void)(p), 0u)
#endif

/* What is neither RAM nor constant is a register of a device. */
#ifndef SC_IS_MEMORY
#define SC_IS_MEMORY(p) ((sc_uptr)(p) - SC_RAM_BASE < SC_RAM_SIZE || SC_CONSTANT(p))
#endif

/* Whether the C library calls functions of the program before the runtime has begun (its malloc). */
#ifndef SC_EARLY
#define SC_EARLY() 0
#endif

/* A number by how much RAM there is: below 32 KiB, below 256 KiB, and from there on. */
#define SC_BY_RAM(few, some, many) (SC_RAM_SIZE < 0x8000u ? (few) : SC_RAM_SIZE < 0x40000u ? (some) : (many))

/* Words of 32 bits, also where int has 16. */
#define SC_BIT(n) ((sc_u32)1 << (n))

/* Words of a descriptor, and the taint of slots. */
#define MASKS(f) ((sc_u32 *)((f) + 1)) /* the depth, and the bits of 32 slots a word */
#define DESCRIPTOR(f, at) ((f)->table + (at))
#define SITE(f, d) (((f)->table[0] | (sc_u32)(f)->table[1] << 16) + (d)[0])
#define KIND(word) ((sc_u32)(word) >> 14)
#define BYTES(word) (1u << ((word) >> 12 & 3u))
#define INDEX(word) ((sc_u32)(word) & 0xFFFu)
enum { SLOT = SC_LEAF_SLOT, MEMORY = SC_LEAF_MEMORY, GLOBAL = SC_LEAF_GLOBAL, NONE = SC_LEAF_NONE };
#ifdef SC_VERIFY
#define VALUE_BYTES(word) (sc.value_bytes = BYTES(word))
#else
#define VALUE_BYTES(word) ((void)0)
#endif

/* What was called through a pointer has probes, or all that it does is known. */
static inline void sc_followed(void)
{
    sc.opaque = 0;
    sc.given = 0;
}

static inline sc_u32 sc_slot_taint(const sc_u32 *m, sc_u32 slot)
{
    return m[1 + (slot >> 5)] >> (slot & 31u) & 1u;
}

static inline void sc_set_slot(sc_u32 *m, sc_u32 slot, sc_u32 taint)
{
    sc_u32 mask = SC_BIT(slot & 31u);
    if (taint) m[1 + (slot >> 5)] |= mask;
    else m[1 + (slot >> 5)] &= ~mask;
}

static inline sc_u32 sc_depth(const sc_frame *f)
{
    return SC_DEPTH(f);
}

/* probe.c: what every probe with an activation does first: its descriptor, or null in an interrupt. */
const SC_ROM sc_d *sc_begin(const sc_frame *f, sc_uint at);
/* What a probe does in an interrupt, besides: it looks whether the leaves that its descriptor counts from word w on are
 * symbolic, or the memory that it reads is. */
void sc_watch(const sc_frame *f, sc_uint at, sc_uint w, const sc_uptr *words);
void sc_watch_memory(const sc_frame *f, sc_uint at, const void *p, sc_size n);
void sc_hash_operand(const void *p, sc_u32 bytes, sc_u32 how);
enum { SC_CONDITION = 2 }; /* beside the direction: its leaves are hashed, too */
/* the taint of its leaves, two bits each */
sc_u64 sc_look(const sc_frame *f, const SC_ROM sc_d *w, const sc_uptr *words);
const sc_uptr *sc_after(const SC_ROM sc_d *w, const sc_uptr *words); /* the words behind those of its leaves */
sc_u32 sc_speak(const sc_frame *f, const SC_ROM sc_d *w, const sc_uptr *words, sc_u32 how, const void *to, sc_u32 size);
void sc_say_leaves(const sc_frame *f, const SC_ROM sc_d *w, const sc_uptr *words, sc_u64 mask, sc_u32 how);

/* One more branch of the budget. */
static inline void sc_next_branch(void)
{
    if (++sc.branches > sc.max_branches && !SC_EARLY()) sc_end(SC_VERDICT_HANG, 0);
    SC_FEED_AT(sc.branches);
}

#ifdef SC_QUIET_STATE
#define sc_step sc_next_branch
#else
void sc_step(void);
#endif

/* select.c: objects at symbolic addresses */
void sc_send_object(const sc_u8 *at, sc_u32 size);
sc_u32 sc_size_of(sc_u32 size, sc_uptr *words, sc_u32 bytes);
void sc_send_value(const void *p, sc_u32 bytes);
/* The taint of the leaves that are a pointer's: two bits for each of so many, the first ones. */
#define SC_POINTERS(count) (((sc_u64)1 << 2u * ((count) & 31u)) - 1u)
/* Beside that count: words[1] is an array behind the pointer, and its size stands behind the leaves. */
#define SC_BEHIND 128u
#if SC_RAM_SIZE >= 0x8000u
/* The size of that array, if the pointer is none of the input's and leads to an object that has room for it; else 0.
 * `leaves`: their number, and they. */
sc_u32 sc_behind(sc_u32 pointer, sc_u64 taint, const SC_ROM sc_d *leaves, const sc_uptr *words);
#define SC_ARRAY sc_behind
#else
#define SC_ARRAY(pointer, taint, leaves, words) 0u
#endif
/* pointed.c: separate variables that one pointer may lead to. A small board's flash is for other things: each is a test
 * there. */
typedef struct { sc_u64 which; sc_u32 count; } sc_several;
typedef void sc_each_object(const sc_u8 *at, sc_u32 size);
#if SC_RAM_SIZE >= 0x8000u
#define SC_FAMILIES
/* A pointer was read somewhere in this table. */
void sc_point(const sc_u8 *table, sc_u32 size);
/* How far behind its pointer an access is, in all runs of the path; nobody knows: so far that it is in no object. 0,
 * too, if the pointer is not symbolic. `pointer`: how many leaves are its own, and 64 if arithmetic has moved it;
 * `leaf`: the first. */
sc_uptr sc_beyond(sc_u32 pointer, sc_u64 taint, sc_u32 leaf, sc_uptr address, sc_uptr value);
/* The objects that belong together with this one, if they are several and have no more than `most` bytes together:
 * those of them that an access of so many bytes can be in. None if so far beyond a pointer it may leave the object that
 * that leads to. */
sc_u32 sc_together(sc_several *several, const sc_u8 *object, sc_uptr beyond, sc_u32 bytes, sc_u32 most);
void sc_each(const sc_several *several, sc_each_object *what);
void sc_send_several(const sc_several *several);
#endif
/* object.c: where and how large the object is that these bytes are in, if it can be read as a whole; size 0: nobody
 * knows. */
sc_extent sc_object(const void *p, sc_u32 bytes);
sc_u32 sc_is_object(const void *p, sc_u32 bytes); /* whether all of these are of one, however large it is */
/* The variable that a byte is of, and the one that ends where it begins; size 0: none is known. The flags in a listed
 * size (its bytes: SC_BYTES): what lies right before it is nothing that is listed; and SC_ONE_OF_MANY. */
sc_extent sc_variable(const void *p, sc_extent *before);
/* The depth of the activation that the variable ends with that this byte is of; 1: it never does. */
sc_u32 sc_ends_with(const void *p);
#define SC_BEHIND_UNKNOWN ((sc_uptr)1 << (8u * sizeof(sc_uptr) - 1u))
#define SC_BYTES(size) ((size) & ~(SC_BEHIND_UNKNOWN | SC_ONE_OF_MANY))

/* Taint of n bytes: a bit each for the first 32, or whether there is any at all. */
static inline sc_u32 sc_taint_get(const void *p, sc_size n)
{
    return sc_taint(p, n, 0, 0);
}

static inline void sc_taint_set(const void *p, sc_size n)
{
    sc_taint(p, n, 1, 0xFFFFFFFFu);
}

static inline void sc_taint_clear(const void *p, sc_size n)
{
    sc_taint(p, n, 1, 0);
}

#endif
