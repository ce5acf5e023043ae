#include "stdin.h"

int getchar_unlocked(void) { return fgetc(stdin); }
