/* What mbedTLS is built with: names in certificates, and what they need. */
#include <limits.h> /* its own configuration brings this */

#define MBEDTLS_PLATFORM_C
#define MBEDTLS_ASN1_PARSE_C
#define MBEDTLS_MD_C
#define MBEDTLS_OID_C
#define MBEDTLS_X509_USE_C
