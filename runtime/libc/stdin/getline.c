#include "stdin.h"

__PTRDIFF_TYPE__ getdelim(char **, __SIZE_TYPE__ *, int, FILE *);
__PTRDIFF_TYPE__ getline(char **line, __SIZE_TYPE__ *size, FILE *from) { return getdelim(line, size, '\n', from); }
