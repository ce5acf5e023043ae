"""Formulas over input bytes and the layers that solve them. Knows nothing of C, targets or events."""
