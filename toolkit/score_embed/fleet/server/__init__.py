"""The server's side of the SCORE protocol, without I/O."""
