"""The command line: one small module a command, which only turns arguments into calls."""
