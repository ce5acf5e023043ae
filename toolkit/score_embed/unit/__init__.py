"""Each function of a project explored in turn."""
