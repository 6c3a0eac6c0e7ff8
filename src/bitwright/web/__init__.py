"""`bitwright serve`: a local page to write, run and inspect programs, and its worker process."""
