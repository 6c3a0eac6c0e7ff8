"""Computes how many networks an ensemble needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bitwright.common.bits import whole_number
from bitwright.common.errors import option
from bitwright.proofs.ranges import matches_range
from bitwright.rules.algorithm import MAX_EXAMPLES
from bitwright.runs.progress import Progress
from bitwright.theory.ensemble import check_scope, sizes
from bitwright.verbs.open import as_algorithm
from bitwright.verbs.progress import Teller, say_compiling, teller
from bitwright.verbs.reports import Summary

if TYPE_CHECKING:
    from bitwright.rules import Algorithm, Program

_SCOPES = {"input": "one input", "inputs": "all inputs", "runs": "all steps of all runs"}


class Size(Summary):
    """For each rounding, the number of networks to average.

    >>> from bitwright import addition, size
    >>> print(size(addition(10)))
    addition: networks to average for all inputs, wrong with probability at most 0.01
      sign, Eq. (8)        34,512   sigma^2/mu^2 = 144.9 at n = 2; 1 never written, masked to 0
      sign, tight           8,344   sigma^2/mu^2 = 144.9 at n = 2; 1 never written, masked to 0
      calibrated               50   sigma^2/(w1 - w0)^2 = 0.2143 at n = 20
      calibrated with K = 40; sign with K = 40
      n at most 20, from blocks (every state: at most one match in each block that has templates)
    """

    @property
    def networks(self) -> int | None:
        """The number of networks that suffices with calibrated rounding; None if no finite number does."""
        return self.data["calibrated"]["networks"]  # type: ignore[no-any-return]


def size(
    what: Algorithm | Program,
    delta: float = 0.01,
    *,
    n: str | None = None,
    domain: str | None = None,
    padding: int | None = None,
    progress: Teller | Progress | bool | None = None,
) -> Size:
    """Computes how many whole-state networks an ensemble needs for error probability `delta`.

    Args:
        what: a program.
        delta: the maximum probability that any bit is wrong.
        n: how the matches are bounded: "blocks", "declared" or "reachable", as in `certify`.
        domain: what must be correct: one "input", all "inputs" (the default) or all steps of all "runs".
        padding: the number of examples that never match.
        progress: True for lines on standard error, or a function that takes the work done and the total.

    >>> from bitwright import addition
    >>> size(addition(10)).networks
    50
    """
    algorithm, tell, asked = as_algorithm(what), teller(progress), check_scope(domain or "inputs")
    whole_number(padding or 0, option("padding"), 0, MAX_EXAMPLES)
    if n == "reachable":
        say_compiling(tell)
    with tell.working("running") as told:
        within = matches_range(algorithm, n, told)
    found = sizes(algorithm, delta, asked, within, padding=padding)
    return _report(algorithm.name, found, _SCOPES[asked], within.scope)


def _report(name: str, n: dict[str, Any], of: str, scope: str) -> Size:
    trust = f", assuming {n['assumption']} (declared, not proved)" if n["assumption"] else ""
    reach = f", in {n['covers']}" if n["n_source"] == "reachable" else ""
    lines = []
    for label, key in (("sign, Eq. (8)", "sign"), ("sign, tight", "sign_tight"), ("calibrated", "calibrated")):
        count = "unbounded" if n[key]["networks"] is None else f"{n[key]['networks']:,}"
        lines.append(f"  {label:14} {count:>12}   {n[key]['reason']}")
    lines.append("  " + "; ".join(f"{rounding} with K = {K:,}" for rounding, K in n["examples"].items()))
    lines.append(f"  n at most {n['n_max']:,}, from {n['n_source']} ({scope})")
    wrong = f"wrong with probability at most {n['delta']:g}{trust}{reach}"
    return Size(f"{name}: networks to average for {of}, {wrong}", lines, {"name": name} | n)
