"""Which input comes next: Algorithm 2 of the SCORE paper."""
