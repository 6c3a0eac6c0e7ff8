"""Proves functions at a fixed size, with all runs of a program as one graph of literals and a SAT solver."""

from typing import TYPE_CHECKING

from bitwright.common.lazy import lazy_names

if TYPE_CHECKING:
    from bitwright.proofs.unrolling.proof import prove_at_size as prove_at_size

_, __getattr__ = lazy_names(__name__, {"bitwright.proofs.unrolling.proof": "prove_at_size"})
