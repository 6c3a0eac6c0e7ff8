"""Proofs: what rules compute, that the limit takes every step, that a network does; and their certificates."""
