#ifndef FRAME_H
#define FRAME_H

enum { FRAME_START = 0x7e, FRAME_MOST = 4 };

/* A frame on a line: 0x7e, the number of its bytes, the bytes, their sum. */
struct frame {
    unsigned char size;
    unsigned char bytes[FRAME_MOST];
};

/* 0: a whole frame; 1: more bytes are needed; -1: it is none. */
int frame_parse(const unsigned char *data, unsigned size, struct frame *frame);

#endif
