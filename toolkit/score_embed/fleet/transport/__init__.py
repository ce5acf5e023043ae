"""Addresses, keys and sockets of a fleet."""
