"""The paper's arithmetic as programs (App. B.1-B.3)."""

from bitwright.rules.algorithms.arithmetic import addition, multiplication, permutation

__all__ = ["addition", "multiplication", "permutation"]
