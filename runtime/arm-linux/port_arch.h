/* ARM, 64 and 32 bits, on Linux; also in an emulator of its instructions. */
#include "layout.h"
