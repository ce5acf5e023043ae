/* What libmodbus's configure would find out. A board has nothing of what it looks for. */
