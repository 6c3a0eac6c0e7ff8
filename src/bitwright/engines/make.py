"""Makes engines by name."""

from __future__ import annotations

from bitwright.common.errors import check_choice
from bitwright.engines.protocol import Engine
from bitwright.engines.rules import LimitEngine, RuleEngine
from bitwright.rules import Program
from bitwright.theory.decisions import check_examples
from bitwright.theory.rounding import check_rounding

UNTRAINED = ("templates", "limit", "sampled")


def make_engine(
    name: str,
    program: Program,
    *,
    rounding: str = "calibrated",
    examples: int | None = None,
    networks: int = 1,
    seed: int = 0,
) -> Engine:
    """Returns the engine with this name for a program, without a trained network.

    `examples` is K with padding, by default one for each template. `networks` and `seed` apply to `sampled`.

    >>> from bitwright import addition, run
    >>> engine = make_engine("limit", addition(10).program, rounding="sign")
    >>> run(addition(10), p=719, q=483, engine=engine).value
    1202
    """
    check_choice("engine", name, UNTRAINED)
    chosen = check_rounding(rounding)
    K = check_examples(program, examples)
    if name == "templates":
        return RuleEngine(program)
    if name == "limit":
        return LimitEngine(program, K, chosen)
    from bitwright.engines.sampled import SampledEngine

    return SampledEngine(program, K, chosen, networks, seed)
