/* mbedTLS 2.28, which firmware uses for TLS: the name in a certificate, as 24 bytes of DER. What is accepted can be
   printed, and its parts lie in the message. */
#include <mbedtls/platform.h>
#include <mbedtls/x509.h>

#include "score.h"

#define LENGTH 24

int main(void)
{
    static unsigned char message[LENGTH];
    static char printed[16 * LENGTH];
    unsigned char *p = message;
    mbedtls_x509_name first = { 0 };

    SYM_BYTES(message, LENGTH);
    if (mbedtls_x509_get_name(&p, message + LENGTH, &first) != 0)
        return 1;
    SCORE_ASSERT(p == message + LENGTH);
    for (const mbedtls_x509_name *name = &first; name != NULL; name = name->next) {
        SCORE_ASSERT(name->oid.p >= message && name->oid.len <= (size_t)(p - name->oid.p));
        SCORE_ASSERT(name->val.p > name->oid.p && name->val.len <= (size_t)(p - name->val.p));
    }
    SCORE_ASSERT(mbedtls_x509_dn_gets(printed, sizeof printed, &first) > 0);
    while (first.next != NULL) {
        mbedtls_x509_name *next = first.next;
        first.next = next->next;
        free(next);
    }
    return 0;
}
