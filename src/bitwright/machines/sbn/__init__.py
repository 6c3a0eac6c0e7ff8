"""SBN computers: the code of programs, a plain interpreter, and the machines A (the paper's) and B (logarithmic)."""
