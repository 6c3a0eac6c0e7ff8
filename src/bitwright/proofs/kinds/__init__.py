"""Proves which kinds of cells a rule text has at every size."""

from typing import TYPE_CHECKING

from bitwright.common.lazy import lazy_names

if TYPE_CHECKING:
    from bitwright.proofs.kinds.proof import KindsProof as KindsProof
    from bitwright.proofs.kinds.proof import prove_kinds as prove_kinds

_, __getattr__ = lazy_names(__name__, {"bitwright.proofs.kinds.proof": "KindsProof prove_kinds"})
