/* Standard input of a whole program (`--stdin-bytes N`): N symbolic bytes, then the end of the file. The front-end adds
 * these objects to the file that defines main. Other streams keep the library's functions, reached by another name. */
#ifndef SCORE_STDIN_H
#define SCORE_STDIN_H

#define __NO_INLINE__ 1 /* declarations only */
#include <stdio.h>
#undef feof
#undef fgetc
#undef getc
#undef getchar
#undef getc_unlocked
#undef fgetc_unlocked
#undef getchar_unlocked

extern unsigned char __score_stdin[]; /* with room before the input for what is pushed back, and a zero behind it */
extern __SIZE_TYPE__ __score_stdin_at, __score_stdin_end;
extern int __score_stdin_over;        /* the end was met */

#endif
