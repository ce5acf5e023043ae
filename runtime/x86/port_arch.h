/* x86, 64 and 32 bits, on Linux. */
#include "layout.h"
