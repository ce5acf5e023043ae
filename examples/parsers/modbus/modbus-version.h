/* libmodbus's configure writes this file. */
#define LIBMODBUS_VERSION_MAJOR 3
#define LIBMODBUS_VERSION_MINOR 1
#define LIBMODBUS_VERSION_MICRO 6
#define LIBMODBUS_VERSION_STRING "3.1.6"
