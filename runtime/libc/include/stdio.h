/* <stdio.h> of the compiler without the macros that read: what they look into has no probes, functions may have models. */
#include_next <stdio.h>
#undef feof
#undef fgetc
#undef getc
#undef getchar
