"""Claims: the links of the chain from what a program should compute to the network that computes it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

ONE_SIZE = "this program"  # where a claim has its sizes: of a program that has none to choose
About = Literal["function", "sizes", "network", "limit"]
Outcome = Literal["proved", "refuted", "tested", "not decided", "not stated"]


@dataclass(frozen=True)
class Claim:
    """One link: what it is about, the verdict, for which sizes, and how that is known."""

    about: About
    verdict: Outcome
    sizes: str  # every size of "l>=1, k=3", or those that were checked, as "1..64"; ONE_SIZE
    method: str  # a phrase: "laws, 311 windows"
    sentence: str  # what a report prints behind the word `about`
    counterexample: dict[str, Any] | None = None  # an input or a state, replayed; if proved, at another size

    def __bool__(self) -> bool:
        return self.verdict == "proved"

    def to_dict(self) -> dict[str, Any]:
        """The claim as `--json` prints it."""
        return asdict(self)
