"""`bitwright serve`: a local page to write, run and inspect programs, with processes that do the work."""
