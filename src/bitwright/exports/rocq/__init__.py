"""Exports an integer network of cells, its programs and their functions as files that Rocq's kernel checks."""
