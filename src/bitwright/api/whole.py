"""Integer networks of the whole state, and the programs of their files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bitwright.api.trained import algorithm_of
from bitwright.errors import InputError, option
from bitwright.networks import FloatNetwork, IntegerNetwork
from bitwright.networks.quantize import Cost, quantize, random_choices
from bitwright.networks.store import About
from bitwright.networks.train import ExecutionSet
from bitwright.program import Algorithm, Program
from bitwright.program.tables import layout_of_names
from bitwright.running.successors import random_states

_STATES = 512


def whole_network(
    algorithm: Algorithm,
    networks: Sequence[FloatNetwork],
    weight_bits: int = 8,
    executions: ExecutionSet | None = None,
) -> tuple[IntegerNetwork, Cost]:
    """Quantizes networks of the whole state into one, and gives the cost.

    Scales are chosen by states of runs, and also by arbitrary states if the trained weights are right there. A network
    that learnt from executions is quantized by these alone.
    """
    if executions is not None:
        return quantize(networks, algorithm.program, weight_bits, sample=executions.sample)
    met = random_states(algorithm, _STATES, seed=0)
    any_states = random_choices(algorithm.program, _STATES, seed=0)
    network, cost = quantize(networks, algorithm.program, weight_bits, np.concatenate((any_states, met)))
    return (network, cost) if cost.margin_before > 0 else quantize(networks, algorithm.program, weight_bits, met)


def algorithm_in(about: About) -> Algorithm:
    """The algorithm that a network file was trained for, as far as the file says; InputError if it does not.

    For programs that are not shipped, a file has the bits and the templates, but no blocks without templates. If bits
    that no template reads are blocks of their own, the program's id comes out right.
    """
    known = algorithm_of(about)
    if known is not None:
        return known
    program = _program_of(about.bits, about.examples)
    if program is None or program.id != about.origin.program_id:
        raise InputError(
            f"{about.path} does not say which blocks its program has; name the program that it is for "
            f"({option('program')})"
        )
    return Algorithm(Path(about.path).stem, program)


def _program_of(bits: list[str], examples: list[str]) -> Program | None:
    blocks: dict[tuple[str, ...], int] = {}
    templates = []
    for text in examples:
        if not text.startswith("when ") or " write " not in text:
            return None
        when, _, write = text.removeprefix("when ").partition(" write ")
        tests = [test.rpartition("=") for test in when.split()]
        names = tuple(name for name, _, _ in tests)
        configuration = [int(value == "1") for _, _, value in tests]
        writes = None if write == "nothing" else write.split()
        templates.append((blocks.setdefault(names, len(blocks)), configuration, writes))
    looked_at = {name for names in blocks for name in names}
    rest = [[name] for name in bits if name not in looked_at]
    try:
        return Program.from_tables(layout_of_names(bits), [*map(list, blocks), *rest], templates)
    except InputError:
        return None
