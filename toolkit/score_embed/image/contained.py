"""Whether a program can change its process: close its files, handle its signals, sleep, map memory.

As a Linux process, what a test may have changed is set up anew before the next one: most of a short test's time. A
program of which nothing names a function that could do so does not need that, if names tell what it calls. So this is
decided from the symbols that its objects take from elsewhere; what is not known to be harmless counts as harmful.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from score_embed.contract.program import Program
from score_embed.image.toolchain import Toolchain

MARK = "-Wl,--defsym=sc_self_contained=1"  # tells the runtime (runtime/posix/posix.h)

# Functions of the C library that compute, or write to the standard streams as these are. None of them asks the kernel
# for anything but memory and to write, so nor does one have the kernel write to the stack.
_COMPUTE = """
memcpy mempcpy memmove memset memcmp memchr memrchr memmem rawmemchr bcmp bcopy bzero
strlen strnlen strcpy stpcpy strncpy stpncpy strcat strncat strcmp strncmp strcasecmp strncasecmp strchr strrchr
strchrnul strstr strcasestr strspn strcspn strpbrk strtok strtok_r strsep strdup strndup __strdup __strndup
ffs ffsl ffsll index rindex
abs labs llabs div ldiv lldiv atoi atol atoll atof strtol strtoll strtoul strtoull strtod strtof strtold
__isoc99_sscanf __isoc99_vsscanf sscanf vsscanf __isoc23_strtol __isoc23_strtoul __isoc23_strtoll __isoc23_strtoull
malloc calloc realloc free rand srand rand_r drand48 lrand48 mrand48 srand48 random srandom
isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit toascii tolower toupper
__ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __errno_location
sprintf snprintf vsprintf vsnprintf
printf vprintf puts putchar putc fputc fputs fwrite fprintf vfprintf fflush ferror feof clearerr
putchar_unlocked putc_unlocked fputc_unlocked fputs_unlocked fwrite_unlocked fflush_unlocked _IO_putc stdout stderr
exit _exit _Exit abort atexit __assert_fail _setjmp longjmp
__stack_chk_fail _GLOBAL_OFFSET_TABLE_
"""
_MATH = """
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma fmax fmin
fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter
pow remainder remquo rint round scalbln scalbn sin sincos sinh sqrt tan tanh tgamma trunc
__finite __fpclassify __isinf __isnan __signbit finite isinf isnan
"""
_HARMLESS = frozenset([*_COMPUTE.split(), *(name + suffix for name in _MATH.split() for suffix in ("", "f", "l"))])
# Of the runtime, of sections of its own, and what a compiler's library computes.
_OWN = re.compile(r"sc_\w+|__(start|stop)_sc_\w+|__aeabi_\w+|__\w*[dsthqx][ifc]\d?(vfp)?|__popcount\w+|__clz_tab")


def is_self_contained(toolchain: Toolchain, program: Program, objects: Sequence[Path], *, alone: bool) -> bool:
    """Of the program in these objects, the models of library functions among them. `alone`: nothing else is linked, but
    the C library. Raises BuildError."""
    if program.beyond_names or not alone:
        return False
    defined, taken = toolchain.symbols(objects)
    return all(name in _HARMLESS or _OWN.fullmatch(name) for name in taken - defined)
