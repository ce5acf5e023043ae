"""From the bytes of an event stream to the path they describe. Sans I/O."""
