"""Proves functions at a fixed size, with all runs of a program as one graph of literals and a SAT solver."""

from bitwright.proofs.unrolling.proof import prove_at_size

__all__ = ["prove_at_size"]
