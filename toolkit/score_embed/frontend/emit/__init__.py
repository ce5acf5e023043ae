"""Back to C, with the probes in it."""
