"""Which test to run next: Algorithm 2 of SCORE, its pairs and their order. Sans I/O."""
