/* x86, 64 and 32 bits, on Linux. */
#if !defined __x86_64__ && !defined __i386__
#error \
    "this compiler makes no code for x86. For an ARM machine: extends: aarch64-linux (or arm-linux), compiler: gcc, emulator: []"
#endif
#include "layout.h"
