"""Engines by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bitwright.bits import shorten, whole_number
from bitwright.engines.protocol import Engine
from bitwright.engines.rules import LimitEngine, RuleEngine
from bitwright.errors import InputError, suggestion
from bitwright.program import Program
from bitwright.theory.rounding import Rounding, check_rounding

if TYPE_CHECKING:
    from bitwright.networks import AnyNetwork

ENGINES = ("templates", "limit", "kernel", "sampled", "network")
MAX_EXAMPLES = 10**10


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
    precision: str = "float32",
    compiled: bool = True,
) -> Engine:
    """The engine of this name, ready to step this program.

    `examples` is K with padding, by default one for each template. `networks` and `seed` are for `sampled`; `trained`,
    `device` and `precision` for `network`, which runs trained networks but trains none. `compiled=False` avoids
    compiled loops.

    >>> from bitwright import addition, run
    >>> engine = make_engine("limit", addition(10).program, rounding="sign")
    >>> run(addition(10), p=719, q=483, engine=engine).value
    1202
    """
    check_engine(name)
    chosen = check_rounding(rounding)
    K = check_examples(program, examples)
    if name != "network" and (device, precision) != ("cpu", "float32"):
        raise InputError(f"a device and a precision go with the engine network, not {name}; leave them out")
    if name == "templates":
        return RuleEngine(program, compiled)
    if name == "limit":
        return LimitEngine(program, K, chosen, compiled)
    if name == "kernel":
        from bitwright.engines.kernel import KernelEngine  # brings SciPy along, which the others do not need

        return KernelEngine(program, K, chosen)
    if name == "sampled":
        from bitwright.engines.sampled import SampledEngine

        return SampledEngine(program, K, chosen, networks, seed)
    return network_engine(program, trained, chosen, device, precision)


def check_engine(name: str) -> None:
    """Raises InputError for the name of an unknown engine."""
    if name not in ENGINES:
        known = ", ".join(ENGINES)
        raise InputError(f"there is no engine '{shorten(name)}'; choose {known}{suggestion(name, ENGINES)}")


def network_engine(
    program: Program,
    trained: Sequence[AnyNetwork],
    rounding: Rounding = "calibrated",
    device: str = "cpu",
    precision: str = "float32",
) -> Engine:
    """Trained networks as an engine: in NumPy, or in PyTorch where a device or a precision needs it."""
    from bitwright.networks import FloatNetwork, IntegerNetwork

    if not trained:
        raise InputError("the engine network needs trained networks; train one first, or load one from its file")
    network = trained[0]
    if isinstance(network, IntegerNetwork):
        if len(trained) > 1:
            raise InputError(
                f"integer networks are run one at a time, got {len(trained):,}; quantize trained ones together"
            )
        if precision != "float32":
            raise InputError(f"a network of integers has no precision to choose, got {precision}; leave it out")
        if device != "cpu":
            from bitwright.engines.integer.device import IntegerDeviceEngine

            return IntegerDeviceEngine(program, network, rounding, device)
        from bitwright.engines.integer.sums import IntegerEngine

        return IntegerEngine(program, network, rounding)
    floats = [network for network in trained if isinstance(network, FloatNetwork)]
    if len(floats) < len(trained):
        raise InputError("integer networks are not averaged with others; give one kind")
    if (device, precision) == ("cpu", "float32"):
        from bitwright.engines.network import NetworkEngine

        return NetworkEngine(program, floats, rounding)
    from bitwright.engines.torch_network import TorchNetworkEngine

    return TorchNetworkEngine(program, floats, rounding, device, precision)


def check_examples(program: Program, examples: int | None) -> int:
    """K, after checking that the program can have that many examples."""
    K = program.templates if examples is None else whole_number(examples, "the number of examples")
    if program.templates > K:
        raise InputError(
            f"the training set has at least the program's {program.templates:,} templates, got {K:,} examples"
        )
    if K > MAX_EXAMPLES:
        raise InputError(f"a training set has at most 10^10 examples, got {shorten(K)}")
    return K
