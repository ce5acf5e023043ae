"""Campaigns as HTML pages: each a single file that needs nothing else, neither a network nor its neighbours."""
