#include "stdin.h"

int getc(FILE *from) { return fgetc(from); }
