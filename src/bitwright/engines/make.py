"""Makes engines by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bitwright.common.errors import InputError, check_choice, option
from bitwright.engines.protocol import Engine
from bitwright.engines.rules import LimitEngine, RuleEngine
from bitwright.rules import Program
from bitwright.rules.pattern import Pattern
from bitwright.theory.decisions import check_examples
from bitwright.theory.rounding import Rounding, check_rounding

if TYPE_CHECKING:
    from bitwright.networks import AnyNetwork

ENGINES = ("templates", "limit", "kernel", "sampled", "network")


def make_engine(
    name: str,
    program: Program,
    *,
    rounding: str = "calibrated",
    examples: int | None = None,
    networks: int = 1,
    seed: int = 0,
    trained: Sequence[AnyNetwork] = (),
    device: str = "cpu",
    compiled: bool = True,
) -> Engine:
    """Returns the engine with this name for a program.

    `examples` is K with padding, by default one for each template. `networks` and `seed` apply to `sampled`; `trained`
    and `device` apply to `network`, which runs trained networks but trains none. `compiled=False` avoids compiled
    loops.

    >>> from bitwright import addition, run
    >>> engine = make_engine("limit", addition(10).program, rounding="sign")
    >>> run(addition(10), p=719, q=483, engine=engine).value
    1202
    """
    check_choice("engine", name, ENGINES)
    chosen = check_rounding(rounding)
    K = check_examples(program, examples)
    if name != "network" and device != "cpu":
        raise InputError(f"a device applies only to the engine network, not to {name}; omit it")
    if name == "templates":
        return RuleEngine(program, compiled)
    if name == "limit":
        return LimitEngine(program, K, chosen, compiled)
    if name == "kernel":
        from bitwright.engines.cells import KernelDecider
        from bitwright.engines.cells.engine import CellEngine

        pattern = Pattern.of_state(program)
        return CellEngine(program, pattern, KernelDecider(pattern, K, chosen), chosen, compiled=compiled)
    if name == "sampled":
        from bitwright.engines.sampled import SampledEngine

        return SampledEngine(program, K, chosen, networks, seed)
    return network_engine(program, trained, chosen, device)


def network_engine(
    program: Program, trained: Sequence[AnyNetwork], rounding: Rounding = "calibrated", device: str = "cpu"
) -> Engine:
    """Returns an engine of trained networks in NumPy, or of an integer network on a device."""
    from bitwright.engines.cells.engine import CellEngine
    from bitwright.networks import IntegerNetwork

    engine = CellEngine(program, Pattern.of_state(program), trained, rounding)
    if device == "cpu":
        return engine
    if not isinstance(trained[0], IntegerNetwork):
        raise InputError(f"floating-point networks run on the CPU; quantize this one, or omit {option('device')}")
    from bitwright.engines.integer import IntegerDeviceEngine

    return IntegerDeviceEngine(program, trained[0], rounding, device)
