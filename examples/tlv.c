/* A decoder without a main: it adds up the numbers in a list of (type, length, value) records. */
#include <stddef.h>
#include <stdint.h>

int tlv_sum(const uint8_t *data, size_t size)
{
    size_t at = 0;
    int sum = 0;

    while (at + 2 <= size) {
        uint8_t type = data[at];
        uint8_t length = data[at + 1];

        at += 2;
        if (length > size - at)
            return -1;
        if (type == 1 && length == 1)
            sum += data[at];
        else if (type == 2 && length == 2)
            sum += data[at] << 8 | data[at + 1];
        else if (type != 0)
            return -2;
        at += length;
    }
    return at == size ? sum : -3;
}
