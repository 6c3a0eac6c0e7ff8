"""The bit-sliced twin of the loop: 64 states in every word, whole runs in compiled loops, and all that occurred.

It makes the runs of engines that decide by (n, writers, matches) alone, from their table of decisions.
"""
