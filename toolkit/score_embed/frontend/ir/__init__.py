"""What functions are lowered to."""
