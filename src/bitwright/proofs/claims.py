"""Claims: the links of the chain from what a program should compute to the network that computes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

ONE_SIZE = "this program"  # the sizes of a claim about a program without sizes
About = Literal["function", "sizes", "network", "limit"]
Outcome = Literal["proved", "refuted", "tested", "not decided", "not stated"]


@dataclass(frozen=True)
class Claim:
    """One link of the chain: its subject, verdict, sizes and method."""

    about: About
    verdict: Outcome
    sizes: str  # such as "l>=1, k=3" for every size, "1..64" for checked sizes, or ONE_SIZE
    method: str  # a phrase such as "laws, 311 windows"
    sentence: str  # printed by reports after `about`
    counterexample: dict[str, Any] | None = None  # a replayed input or state; for a proved claim, at another size
    proof: dict[str, Any] | None = field(default=None, compare=False, repr=False)  # for independent checkers

    def __bool__(self) -> bool:
        return self.verdict == "proved"

    def to_dict(self) -> dict[str, Any]:
        """Returns the claim as `--json` prints it, without its proof."""
        return {name: value for name, value in vars(self).items() if name != "proof"}
