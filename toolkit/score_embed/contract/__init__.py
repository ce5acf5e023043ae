"""What the parties agree on: sites and their flags, how a test ends, the constants of the wire."""
