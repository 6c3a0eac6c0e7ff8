"""What a proof by exhaustion claims, as a property that verifiers of networks read (VNN-LIB 1.0).

A file asks for a counterexample: a state, one choice in every block, and a bit of it that comes out wrong; of a network
of cells, a local state of one kind alone, and a port of it. Inputs are the matched examples, outputs the sums G of the
network as `save_sums_onnx` writes it. Both are exact in float32, so the property has a solution just where the network
is wrong. Files have the form that most readers take: one disjunction of conjunctions, with <= and >= alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bitwright.bits import BoolArray, shorten
from bitwright.checking.exhaustion.domains import CellsDomain, StatesDomain, every_state
from bitwright.checking.exhaustion.judges import Truth
from bitwright.errors import InputError
from bitwright.files.storage import write_atomically
from bitwright.networks import IntegerNetwork
from bitwright.networks.integer import columns_of
from bitwright.networks.onnx_file import check_exact_in_float32
from bitwright.program import Program
from bitwright.program.layout import IntArray

MAX_COMPARISONS = 10_000_000  # in a file; that is some 120 MB


@dataclass(frozen=True)
class Asked:
    """How much a property file asks."""

    states: int  # in which something matches; elsewhere every bit is 0 by definition
    cases: int  # a state and one of its bits


def save_vnnlib(network: IntegerNetwork, program: Program, path: Path) -> Asked:
    """Writes the negation of what is to be proved; raises InputError where float32 is not exact, or for too many cases.

    The network it speaks of is the one that `save_sums_onnx` writes.
    """
    check_exact_in_float32(network, program)
    domain = every_state(program)
    comparisons = domain.size * program.bits * (2 * program.templates + 1)
    if comparisons > MAX_COMPARISONS:
        raise InputError(
            f"a property of {shorten(domain.size, 24)} states has {shorten(comparisons, 24)} comparisons, more than "
            f"the {MAX_COMPARISONS:,} that are written; certify --network goes through any number of states"
        )
    states, columns, truth = 0, columns_of(network, program), Truth(program)
    cases: list[str] = []

    def look(matched: BoolArray, numbers: IntArray, step: int, times: int, own: slice) -> None:  # noqa: ARG001
        nonlocal states
        some = matched[matched.any(axis=1)]
        states += len(some)
        for row, must in zip(some, truth(some), strict=True):
            cases.extend(_wrong(row, must, network, columns, range(program.bits)[own]))

    domain.visit(0, domain.size, look)
    if not cases:
        raise InputError("no bit of this network is ever looked at, so there is no case to write")
    write_atomically(path, "\n".join([*_head(network, domain), "(assert (or", *cases, "))", ""]).encode())
    return Asked(states, len(cases))


def _head(network: IntegerNetwork, domain: StatesDomain | CellsDomain) -> Iterator[str]:
    program, of_cells = domain.program, isinstance(domain, CellsDomain)
    asked = (
        "A local state of one kind of cells, and a port"
        if of_cells
        else "A state, one choice in every block, and a bit"
    )
    yield f"; {asked} of it that comes out wrong: unsat if the network is exact."
    yield f"; network {network.digest}"
    yield f"; program {program.id}"
    for template in range(program.templates):
        yield f"(declare-const X_{template} Real) ; 1: matched, {program.template_text(template)}"
    for bit, name in enumerate(program.layout.names):
        yield f"(declare-const Y_{bit} Real) ; the sum of {name}"


def _wrong(
    matched: BoolArray,  # (K,)
    truth: BoolArray,  # (k,)
    network: IntegerNetwork,
    columns: IntArray,  # (k,)
    bits: Iterable[int],
) -> Iterator[str]:
    """For each of these bits that it is wrong in a state: G <= T where it must be on, G >= T + 1 where it must not."""
    values = matched.astype(np.int64).tolist()
    point = "".join(f"(<= X_{number} {value})(>= X_{number} {value})" for number, value in enumerate(values))
    limits = network.thresholds[sum(values) - 1][columns].tolist()
    for bit in bits:
        wrong = f"(<= Y_{bit} {limits[bit]})" if truth[bit] else f"(>= Y_{bit} {limits[bit] + 1})"
        yield f"(and {point}{wrong})"
