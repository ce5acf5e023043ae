"""One exploration from sources to summary."""
