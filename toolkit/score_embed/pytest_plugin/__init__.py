"""Campaigns and regression tests as tests of pytest."""
