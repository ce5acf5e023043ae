/* A board has no sockets; libmodbus takes from them how to swap bytes. For little-endian processors. */
#define htonl(x) __builtin_bswap32(x)
#define htons(x) __builtin_bswap16(x)
#define ntohl(x) __builtin_bswap32(x)
#define ntohs(x) __builtin_bswap16(x)
