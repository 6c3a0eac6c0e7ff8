"""Proves that rules compute a function and that the limit or a network makes every step, and writes certificates."""
