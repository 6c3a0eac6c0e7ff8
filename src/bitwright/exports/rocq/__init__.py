"""Rocq: an integer network of cells, its programs and what they compute, as files that the prover's kernel checks."""
