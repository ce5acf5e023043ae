"""What drives the fleet: its clients run tests on targets, its server keeps the record. The I/O around `fleet`."""
