"""Runs of algorithms: a single loop with endings and observers."""
