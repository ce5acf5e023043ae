/* ARM, 64 and 32 bits, on Linux; also in an emulator of its instructions. */
#if !defined __aarch64__ && !defined __arm__
#error "this compiler makes no code for ARM"
#endif
#include "layout.h"
