"""score-embed: concolic testing for embedded C.

PYTEST_DONT_REWRITE: where the plugin of pytest is installed, pytest would warn of a package that was imported before
it.
"""

__version__ = "0.1.0"
