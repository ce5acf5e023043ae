#include "stdin.h"

int fgetc_unlocked(FILE *from) { return fgetc(from); }
