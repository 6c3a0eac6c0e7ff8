"""Validation: every input of a program through an engine, against an oracle."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Unpack

from bitwright import validation
from bitwright.common.bits import whole_number
from bitwright.common.errors import InputError, option
from bitwright.common.files.storage import as_path
from bitwright.common.workers import Workers
from bitwright.engines.cells.engine import cells_sentence
from bitwright.engines.protocol import Engine
from bitwright.rules import Algorithm, Program
from bitwright.rules.algorithms.arithmetic import order_of
from bitwright.runs.loop import step_limit
from bitwright.runs.progress import Progress
from bitwright.validation import Arithmetic, Oracle
from bitwright.validation import Failure as Failure
from bitwright.validation import Validation as Validation
from bitwright.validation.functions import Given
from bitwright.validation.oracles import ensured
from bitwright.validation.report import broken_bound as broken_bound
from bitwright.verbs import devices
from bitwright.verbs.engines import EngineChoice, EngineSettings, engine_for
from bitwright.verbs.network import Network, as_networks
from bitwright.verbs.open import SIZED, as_algorithm, named_algorithm
from bitwright.verbs.progress import Teller, say_compiling, teller

if TYPE_CHECKING:
    from bitwright.verbs.run import Networks

_MANY = 1 << 20  # evaluations; longer work moves to a GPU if there is one


def validate(
    what: Algorithm | Program,
    oracle: Given | None = None,
    *,
    arrays: bool = False,
    engine: str | Engine | None = None,
    network: Networks | None = None,
    random: int | None = None,
    sample_seed: int | None = None,
    steps: int | None = None,
    workers: str | int = "1",
    resume: str | PathLike[str] | None = None,
    unsliced: bool = False,
    progress: Teller | Progress | bool | None = None,
    **settings: Unpack[EngineSettings],
) -> Validation:
    """Runs every input (or `random` ones) through an engine, and compares every output and every step.

    Every step is compared with the rules, and every `ensure` line must be true of every run that ends. Without an
    `oracle` outputs are compared with Python's integers for `addition`, `multiplication` and `permutation`, with the
    plain interpreter for SBN code, with the `ensure` lines of a program that give its outputs, and otherwise with what
    the rules give.

    Args:
        what: the program.
        oracle: a function that takes the inputs by name and returns the output, or a dictionary of outputs; None where
            a run never ends. With several `workers`, or a file to `resume` from, it is named as "module:function".
        arrays: the oracle takes NumPy arrays of inputs, which is much faster.
        engine: an engine or its name; by default "network" if a network is given, else "limit".
        network: a trained network, or several to average.
        random: how many random inputs to run, in place of all.
        sample_seed: which random inputs.
        steps: where a run is cut off.
        workers: how many processes share the inputs; "all" or "ray".
        resume: a file that records progress; after an interruption the work continues from it.
        unsliced: use the engine itself rather than its bit-sliced form.
        progress: True for lines on standard error, or a function that takes the work done and the total.
        settings: engine settings, as for `run`. Without a `device`, long work through one integer network moves to a
            GPU if there is one.

    >>> from bitwright import addition
    >>> print(validate(addition(3)))
    EXACT: addition (add two 3-bit numbers by ripple carry), engine limit, calibrated rounding, K = 12
      inputs    64, exhaustive; 0 wrong by Python's integers or the ensure lines
      steps     at most 6 in a run; 384 evaluations, 0 unlike the rules
      matches   n = 0 to 3; 14 different (n, writers, matches)
      margin    0.5 at n = 1 where 0 of 1 writer match
    >>> validate(addition(3), lambda p, q: p | q, arrays=True).tally.failures[0].inputs
    {'p': 1, 'q': 1}
    """
    tell, device = teller(progress), settings.pop("device", None)
    if sample_seed is not None and random is None:
        raise InputError(
            f"{option('sample_seed')} says which inputs {option('random')} takes; without {option('random')} all "
            "are run"
        )
    for name, value in (("random", random), ("sample_seed", sample_seed)):
        if value is not None:
            whole_number(value, option(name))
    file = None if resume is None else as_path(resume, "the file to resume from")
    if network is not None:
        network = as_networks(network)
    algorithm = as_algorithm(what)
    own = _own_oracle(algorithm, steps)
    name = engine if isinstance(engine, str) else "network" if network is not None else "limit"
    if settings.get("seed") is not None and isinstance(engine, str | None) and not EngineChoice(name).has_networks:
        raise InputError(
            f"{option('seed')} chooses networks, for {option('engine')} sampled or network; {option('sample_seed')} "
            "chooses inputs"
        )
    who = Workers.parse(str(workers), device or "cpu")
    if device is None and name == "network" and isinstance(engine, str | None):
        device = _device(algorithm, network, random, who, tell)
    if device not in (None, "cpu"):
        settings["device"] = device
    chosen = engine_for(algorithm, engine, network, settings, tell, "limit")
    if file is not None and not chosen.covered:
        raise InputError(
            "the network computes by code of this process, so a file to resume from cannot say whether it is the same; "
            "export it to ONNX"
        )
    asked = own if oracle is None else validation.given_oracle(algorithm, oracle, arrays)
    task = validation.make_task(algorithm, chosen, asked, random, sample_seed or 0, steps, unsliced)
    if asked is None and algorithm.ensures:
        tell.note("the ensure lines leave an output open; what they leave open is compared with the rules themselves")
    elif asked is None and chosen.rounding is None:
        tell.note(f"without {option('oracle')} the rules are their own judge: this tests the engine, not the program")
    if task.sliced and say_compiling(tell):
        with tell.working("compiling"):  # by one input, so that no rate counts it
            validation.validate(validation.make_task(algorithm, chosen, None, 1, 0, steps))
    try:
        with tell.working("inputs") as told:
            if file is None:
                told(0, task.inputs.count)
            return validation.validate(task, who, told, file)
    except KeyboardInterrupt:
        if file is not None:
            tell.note(f"finished work is in {file}; the same command continues from there")
        raise


def notes(done: Validation) -> list[str]:
    """Notes that go with the report: how cells were run, a doubtful oracle, and the speed."""
    facts, doubt = done.task.engine.cell_facts, done.doubt
    return [
        *([] if facts is None else [cells_sentence(facts, done.tally.evaluations, done.tally.margin)]),
        *([] if doubt is None else [doubt]),
        f"{done.seconds:.2f} s, {done.rate:,.0f} evaluations a second",
    ]


def order_text(permutation: Algorithm) -> str:
    """The order of a permutation, such as `3,1,2`."""
    return ",".join(map(str, order_of(permutation)))


def _own_oracle(algorithm: Algorithm, steps: int | None) -> Oracle | None:
    """The program's own oracle, which shares no code with any engine."""
    if algorithm.computer is not None:
        oracle: Oracle = algorithm.computer.oracle(step_limit(algorithm, steps))
        return oracle
    return _arithmetic(algorithm) or ensured(algorithm)


def _arithmetic(algorithm: Algorithm) -> Oracle | None:
    """Python's integers for an algorithm that is the shipped one in every part."""
    if algorithm.name not in SIZED or not algorithm.inputs:
        return None
    name, bits = algorithm.name, len(algorithm.inputs[0].bits)
    if name == "permutation":
        order = order_of(algorithm) if algorithm.program.templates == algorithm.program.bits else []
        own = sorted(order) == list(range(1, bits + 1)) and named_algorithm(name, order=order) == algorithm
        return Arithmetic(name, tuple(order)) if own else None
    counters = (False, True) if name == "addition" else (False,)
    return Arithmetic(name) if any(named_algorithm(name, bits, counter=one) == algorithm for one in counters) else None


def _device(algorithm: Algorithm, network: Networks | None, random: int | None, workers: Workers, tell: Teller) -> str:
    """A GPU for long work through one integer network of the whole state, whose bits are the same anywhere."""
    inputs = sum(len(word.bits) for word in algorithm.inputs)
    runs = random if random is not None else 2 ** min(inputs, 64)
    several = network if isinstance(network, list) else []
    if len(several) != 1 or workers.kind != "serial" or runs * (algorithm.steps or 1) < _MANY:
        return "cpu"
    integers = isinstance(several[0], Network) and several[0].integer and not several[0].cells
    if not integers or (gpu := devices.gpu_name()) is None:
        return "cpu"
    tell.note(f"on {gpu}")
    return "cuda"
