"""A small language above the assembly, a subset of Python: one front end, and a back end each for SBN and SUBLEQ."""
