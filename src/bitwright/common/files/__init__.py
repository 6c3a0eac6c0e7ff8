"""Atomically written files, append-only files, and a strict reader for every JSON document bitwright writes."""
