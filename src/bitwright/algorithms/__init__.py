"""The paper's arithmetic as programs (App. B.1-B.3)."""

from bitwright.algorithms.addition import addition
from bitwright.algorithms.multiplication import multiplication
from bitwright.algorithms.permutation import permutation

__all__ = ["addition", "multiplication", "permutation"]
