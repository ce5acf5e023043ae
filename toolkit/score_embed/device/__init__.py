"""What runs a test: a process, an emulator, a board on the desk."""
