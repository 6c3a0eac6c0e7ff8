"""Validates a program: runs every input through an engine, and compares the outputs with an oracle."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

from bitwright import validation
from bitwright.common.bits import whole_number
from bitwright.common.errors import InputError, option
from bitwright.common.files.storage import as_path
from bitwright.common.workers import Workers
from bitwright.engines.protocol import Engine
from bitwright.rules import Algorithm, Program
from bitwright.runs.loop import step_limit
from bitwright.runs.progress import Progress
from bitwright.validation import Function, Oracle, Validation
from bitwright.verbs import devices
from bitwright.verbs.engines import EngineSettings, engine_for
from bitwright.verbs.network import Network
from bitwright.verbs.open import as_algorithm
from bitwright.verbs.progress import Teller, say_compiling, teller

if TYPE_CHECKING:
    from bitwright.verbs.run import RunNetwork

_MANY = 1 << 20  # evaluations; longer work moves to a GPU if there is one


def validate(
    what: Algorithm | Program,
    oracle: Callable[..., Any] | str | None = None,
    *,
    engine: str | Engine | None = None,
    network: RunNetwork | None = None,
    random: int | None = None,
    sample_seed: int | None = None,
    steps: int | None = None,
    workers: str | int = "1",
    resume: str | PathLike[str] | None = None,
    progress: Teller | Progress | bool | None = None,
    **settings: Unpack[EngineSettings],
) -> Validation:
    """Runs every input (or `random` inputs) through an engine, and checks every output and every step.

    Every step is compared with the rules, and every `ensure` line must be true after every run that ends. If there is
    no `oracle`, outputs are checked by the plain interpreter for SBN code, by the `ensure` lines if they mention every
    output, or otherwise by the rules.

    Args:
        what: the program.
        oracle: a function that takes the inputs by name and returns the output, a dictionary of outputs, or None if
            a run never ends. With several `workers`, or a file to `resume` from, it is named as "module:function".
        engine: an engine or its name; by default "network" if a network is given, else "limit".
        network: a trained network.
        random: the number of random inputs to run instead of all inputs.
        sample_seed: the seed that selects the random inputs.
        steps: the step limit of a run.
        workers: the number of processes that share the inputs, "all" or "ray".
        resume: a file that records finished work, so that the same validation can continue after an interruption.
        progress: True for lines on standard error, or a function that takes the work done and the total.
        settings: engine settings, as for `run`. By default, long work with a whole-state network uses a GPU if there
            is one.

    >>> from bitwright import addition
    >>> print(validate(addition(3)))
    EXACT: addition (add two 3-bit numbers by ripple carry), engine limit, calibrated rounding, K = 12
      inputs    64, exhaustive; 0 wrong by its ensure lines
      steps     at most 6 in a run; 384 evaluations, 0 differ from the rules
      matches   n = 0 to 3; 14 different (n, writers, matches)
      margin    0.5 at n = 1 where 0 of 1 writer match
    >>> validate(addition(3), lambda p, q: p | q).tally.failures[0].inputs
    {'p': 1, 'q': 1}
    """
    tell, device = teller(progress), settings.pop("device", None)
    if sample_seed is not None and random is None:
        raise InputError(
            f"{option('sample_seed')} selects the inputs of {option('random')}; without {option('random')}, all "
            "inputs are run"
        )
    for name, value in (("random", random), ("sample_seed", sample_seed)):
        if value is not None:
            whole_number(value, option(name))
    algorithm = as_algorithm(what)
    own = _own_oracle(algorithm, steps)
    name = engine if isinstance(engine, str) else "network" if network is not None else "limit"
    who = Workers.parse(str(workers), device or "cpu")
    if device is None and name == "network" and isinstance(engine, str | None):
        device = _device(algorithm, network, random, who, tell)
    if device not in (None, "cpu"):
        settings["device"] = device
    chosen = engine_for(algorithm, engine, network, settings, tell, "limit")
    asked = own if oracle is None else Function.of(algorithm, oracle)
    task = validation.make_task(algorithm, chosen, asked, random, sample_seed or 0, steps)
    if asked is None and algorithm.ensures and not task.stated:
        tell.note("the ensure lines do not mention every output, so outputs are also compared with the rules")
    elif asked is None and not task.stated and chosen.rounding is None:
        tell.note(f"without {option('oracle')}, outputs are compared with the rules: this tests only the engine")
    if task.sliced and say_compiling(tell):
        with tell.working("compiling"):  # with one input, so that rates do not include it
            validation.validate(validation.make_task(algorithm, chosen, None, 1, 0, steps))
    file = None if resume is None else as_path(resume, "the file to resume from")
    with tell.working("inputs") as told:
        return validation.validate(task, who, told, file)


def _own_oracle(algorithm: Algorithm, steps: int | None) -> Oracle | None:
    """Returns the program's own oracle, which shares no code with any engine."""
    if algorithm.computer is not None:
        oracle: Oracle = algorithm.computer.oracle(step_limit(algorithm, steps))
        return oracle
    return None


def _device(algorithm: Algorithm, network: object, random: int | None, workers: Workers, tell: Teller) -> str:
    """Returns cuda for long work with a whole-state network, whose bits are the same on every device."""
    inputs = sum(len(word.bits) for word in algorithm.inputs)
    runs = random if random is not None else 2 ** min(inputs, 64)
    whole = isinstance(network, Network) and not network.cells
    if not whole or workers.kind != "serial" or runs * (algorithm.steps or 1) < _MANY:
        return "cpu"
    if (gpu := devices.gpu_name()) is None:
        return "cpu"
    tell.note(f"on {gpu}")
    return "cuda"
