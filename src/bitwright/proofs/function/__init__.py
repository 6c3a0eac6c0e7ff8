"""Proves what rules compute for numbers of every length, using chains of positions, laws, windows and a clock."""

from bitwright.proofs.function.prove import FunctionProof, prove_function

__all__ = ["FunctionProof", "prove_function"]
