"""The types of C, constant expressions, and the functions that everybody knows."""
