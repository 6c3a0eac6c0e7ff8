"""SBN computers: program code, a plain interpreter, and the machines A (the paper's) and B (logarithmic)."""
