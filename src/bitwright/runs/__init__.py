"""Runs: one loop with endings and observers."""
