#include "stdin.h"

int getchar(void) { return fgetc(stdin); }
