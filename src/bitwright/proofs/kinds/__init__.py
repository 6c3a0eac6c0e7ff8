"""Proves which kinds of cells a rule text has at every size."""

from bitwright.proofs.kinds.proof import KindsProof, prove_kinds

__all__ = ["KindsProof", "prove_kinds"]
