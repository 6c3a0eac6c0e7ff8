"""Proves that rules compute a function and that the limit or a network takes every step, and writes certificates."""
