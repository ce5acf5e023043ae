"""From instrumented C to an image that can be run: compile, link, read back, keep."""
