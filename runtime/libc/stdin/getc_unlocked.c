#include "stdin.h"

int getc_unlocked(FILE *from) { return fgetc(from); }
