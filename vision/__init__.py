"""Pixels to facts: where the table is, when it may be read, and what lies on it."""
