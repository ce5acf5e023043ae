/* mbedTLS without what a process on its own does not have: a network, alarms. */
#undef MBEDTLS_NET_C
#undef MBEDTLS_TIMING_C
