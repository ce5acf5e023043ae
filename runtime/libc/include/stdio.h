/* <stdio.h> of the compiler without the macros that read: what they look into has no probes, functions may have models.
 * Macros of these names that the program has stay as they are, however often it includes the header. */
#pragma push_macro("feof")
#pragma push_macro("fgetc")
#pragma push_macro("getc")
#pragma push_macro("getchar")
#include_next <stdio.h>
#pragma pop_macro("feof")
#pragma pop_macro("fgetc")
#pragma pop_macro("getc")
#pragma pop_macro("getchar")
