"""score-embed: concolic testing for embedded C."""

__version__ = "0.1.0"
