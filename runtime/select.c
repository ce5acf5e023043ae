/* Reads at symbolic addresses: the host gets the object that is read, and makes a formula of its elements.
 *
 * What an object holds is sent when it is read first and again when it has changed; the host keeps it. Constants are
 * never sent: the host has the image. */
#include "state.h"

#ifndef SC_TABLES
#define SC_TABLES 4u
#endif

static struct {
    const sc_u8 *at;
    sc_u32 size, crc;
} sent[SC_TABLES] SC_RUNTIME_DATA; /* the objects that the host knows, in turn; valid as far as sc.tables says */

/* The bytes of a piece as the host is told: 0 where they are tainted, as these have formulas. */
static sc_u32 known_bytes(sc_u8 *to, const sc_u8 *from, sc_u32 n)
{
    sc_u32 i, taint = sc_taint_get(from, n);
    for (i = 0; i < n; i++) to[i] = taint >> i & 1u ? 0 : from[i];
    return taint;
}

/* Whether the host knows these bytes already. From now on it does. */
static sc_u32 is_known(const sc_u8 *at, sc_u32 size)
{
    sc_u8 piece[32];
    sc_u32 i, done, n, crc = 0, count = sc.tables < SC_TABLES ? sc.tables : SC_TABLES;
    for (done = 0; done < size; done += n) {
        n = size - done < sizeof piece ? size - done : sizeof piece;
        known_bytes(piece, at + done, n);
        crc = sc_crc32(crc, piece, n);
    }
    for (i = 0; i < count && (sent[i].at != at || sent[i].size != size); i++) {}
    if (i < count && sent[i].crc == crc) return 1;
    if (i == count) i = sc.tables++ % SC_TABLES;
    sent[i].at = at;
    sent[i].size = size;
    sent[i].crc = crc;
    return 0;
}

/* Whether the host knows the bytes, else the bytes; and which of them are tainted: (gap + 1, length)…, 0. */
void sc_send_object(const sc_u8 *at, sc_u32 size)
{
    sc_u8 piece[32];
    sc_u32 known = is_known(at, size), done, n, i, gap = 0, length = 0;
    sc_byte(known);
    for (done = 0; !known && done < size; done += n) {
        n = size - done < sizeof piece ? size - done : sizeof piece;
        known_bytes(piece, at + done, n);
        for (i = 0; i < n; i++) sc_byte(piece[i]);
    }
    for (done = 0; done < size; done++) {
        if (sc_taint_get(at + done, 1)) {
            if (!length++) sc_varint(gap + 1u);
            gap = 0;
        } else {
            if (length) sc_varint(length);
            length = 0;
            gap++;
        }
    }
    if (length) sc_varint(length);
    sc_byte(0);
}

/* The size of the object that begins at words[1]; where it is not known when the program is built (0), both are looked
 * for. */
sc_u32 sc_size_of(sc_u32 size, sc_uptr *words, sc_u32 bytes)
{
    sc_extent found;
    if (size) return size;
    found = sc_object((const void *)words[0], bytes);
    words[1] = (sc_uptr)found.at;
    return (sc_u32)found.size;
}

#ifdef SC_FAMILIES
sc_u32 sc_behind(sc_u32 pointer, sc_u64 taint, const SC_ROM sc_d *leaves, const sc_uptr *words)
{
    sc_u32 size;
    if (!(pointer & SC_BEHIND) || taint & SC_POINTERS(pointer)) return 0;
    size = leaves[1 + (leaves[0] & ~SC_FLOATS)];
    return size && sc_is_object((const void *)words[1], size) ? size : 0;
}

/* A pointer was read somewhere in the object: remember what its pointers lead to. Constants have no size here but in
 * the list. Which of them it is says the host's formula, not the path, if the pointer that led there is symbolic, too:
 * runs of a path do not agree on it. */
static void look_for_pointers(sc_uptr object, sc_u32 size, const sc_u8 *element, sc_u32 anywhere)
{
    sc_extent found, before;
    if (size) {
        sc_point((const sc_u8 *)object, size);
        return;
    }
    if (anywhere) return;
    found = sc_variable(element, &before);
    sc_point(found.at, (sc_u32)SC_BYTES(found.size));
}

/* The address may be in several objects, and each of them says what it holds. */
static sc_u32 read_several(sc_uptr object, sc_uptr beyond, sc_u32 bytes)
{
    sc_several several;
    if (!sc_together(&several, (const sc_u8 *)object, beyond, bytes, SC_MOST_VARIABLE)) return 0;
    sc_send_several(&several);
    sc_condition(sc.last_site << 1 | 1u);
    if (bytes == sizeof(void *)) sc_each(&several, sc_point);
    return 1;
}
#else
#define look_for_pointers(object, size, element, anywhere) ((void)0)
#define read_several(object, beyond, bytes) 0
#endif

/* If the address is symbolic: its formula's leaves and the object, or all of those it may be in. Returns 1 if the value
 * is symbolic, too. */
static sc_u32 choose(sc_frame *f, const SC_ROM sc_d *d, sc_uptr *words, sc_u32 bytes)
{
    const sc_u8 *element = (const sc_u8 *)words[0];
    sc_u64 taint = sc_look(f, d + 3, words + 2);
    sc_u32 size = taint ? sc_size_of(d[1] + SC_ARRAY(d[2] >> 1, taint, d + 3, words), words, bytes) : 0;
    sc_u32 inside = size ? words[0] - words[1] <= size - bytes : SC_CONSTANT(element);
    sc_u32 condition = size | inside;
    if (!sc_speak(f, d + 3, words + 2, (condition ? SC_CONDITION : 0u) | inside, 0, 0)) return 0;
    if (!condition) return 0; /* nobody knows the object */
    if (!d[1] && size && read_several(words[1], sc_beyond(d[2] >> 1, taint, d[4], words[0], words[2]), bytes)) return 1;
    if (!d[1]) sc_varint(size << 1);
    if (size) {
        sc_address((const sc_u8 *)words[1]);
        if (inside && !(d[2] & 1u)) sc_send_object((const sc_u8 *)words[1], size);
    }
    sc_condition(sc.last_site << 1 | inside);
    if (inside && bytes == sizeof element)
        look_for_pointers(words[1], size, element, (taint & SC_POINTERS(d[2] >> 1)) != 0);
    return inside;
}

void sc_select(sc_frame *f, sc_uint at, sc_uptr *words)
{
    const SC_ROM sc_d *d = DESCRIPTOR(f, at); /* of the plain assignment; that of the select follows */
    sc_u32 word = d[1];
    if (!sc_begin(f, at + 4)) sc_watch(f, at + 4, 3, words + 2);
    else if (choose(f, d + 4, words, BYTES(word))) {
        sc_set_slot(MASKS(f), INDEX(word), 1);
        VALUE_BYTES(word);
        return;
    }
    sc_assign1(f, at, words[0]);
}
