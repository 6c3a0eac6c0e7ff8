"""Exports an integer network of cells, its program and the program's function as files checked by Rocq's kernel."""
