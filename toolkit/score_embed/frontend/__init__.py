"""From C to C with probes: rooms from the text to the tree, to the normal form, and back (ARCHITECTURE.md)."""
