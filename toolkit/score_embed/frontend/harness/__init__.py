"""Harnesses: the `main` that one function of a program is explored with, as C that people can read and change."""
