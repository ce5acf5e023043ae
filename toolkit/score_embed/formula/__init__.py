"""What a value is made of: expressions, their simplification, byte sets and evaluation. Trace and solve stand on it."""
