"""Simulated lab rigs: what users without hardware, and our own tests, drive instead of boards."""
