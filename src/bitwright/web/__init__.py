"""`bitwright serve`: a local page to write, run and inspect programs, and the process that does its work."""
