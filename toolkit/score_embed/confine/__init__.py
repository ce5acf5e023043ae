"""What a target's process may do to the machine that it runs on, held to by the kernel's means."""
