"""Board profiles: what the rest of score-embed knows about a board's tools and how to run it."""
