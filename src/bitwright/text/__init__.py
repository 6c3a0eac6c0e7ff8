"""Shared by all our languages: a scanner, a list of problems and the expansion of macros."""
