/* x86, 64 and 32 bits, on Linux. */
#if !defined __x86_64__ && !defined __i386__
#error \
    "this compiler makes no code for x86. For an ARM machine: extends: aarch64-linux (or arm-linux), compiler: gcc, emulator: []"
#endif
/* Of a process, the program's memory and registers can be kept. clang may read what a `restrict` pointer leads to
 * before a call, where no probe has told of it (snapshot.c). */
#if defined __x86_64__ && defined SC_QUIET_STATE && !defined SC_VERIFY
#if !defined __clang__ && !defined SC_NO_SNAPSHOTS
#define SC_SNAPSHOTS 64u
#define SC_MARK_SP 7 /* of the registers in a mark: the stack pointer (switch.S) */
#endif
#endif
#include "layout.h"
