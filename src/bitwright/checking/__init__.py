"""Checking: every input, every n that runs reach, and certificates."""
