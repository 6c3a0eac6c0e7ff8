"""Writes properties for neural network verifiers (VNN-LIB), one for each state, in the layout of VNN-COMP.

A property fixes the inputs, which are the matched examples, to a state and is satisfiable if some bit is wrong in that
state. For a network of cells, it is about a local state of a kind and the ports of that kind. The outputs are the sums
G of the network written by `save_sums_onnx`. G is an integer and, like T + 0.5, exact in float32. A bit that must be on
is wrong exactly if G <= T + 0.5, and a bit that must be off exactly if G >= T + 0.5. No comparison is strict. Inputs
are boxes and only outputs form a disjunction, because verifiers do not support disjunctions over inputs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bitwright.common.bits import BoolArray, shorten
from bitwright.common.errors import InputError, counted
from bitwright.common.files.storage import check_empty, make_folder, write_atomically
from bitwright.networks import IntegerNetwork
from bitwright.networks.integer import columns_of
from bitwright.networks.onnx_file import check_exact_in_float32, onnx_module, save_sums_onnx
from bitwright.proofs.exhaustion.domains import StatesDomain
from bitwright.proofs.exhaustion.judges import written_bits
from bitwright.rules import Program
from bitwright.rules.layout import IntArray
from bitwright.rules.pattern import every_cell

MAX_PROPERTIES = 10_000  # in a folder
MAX_COMPARISONS = 10_000_000  # in all files of a folder, which are then about 300 MB
SECONDS = 60  # the time limit in every line of instances.csv
MODEL = "onnx/sums.onnx"


@dataclass(frozen=True)
class Covered:
    """The states and bits that the properties in a folder cover."""

    what: str  # "states" or "local states"
    states: int
    properties: int  # one for each state with a match; in other states every bit is 0 by definition
    cases: int  # pairs of a state and a bit

    @property
    def text(self) -> str:
        """The number of files, in words."""
        none = self.states - self.properties
        rest = f"; {none:,} match{'es' * (none == 1)} no example and need{'s' * (none == 1)} no property" * bool(none)
        return f"{counted(self.properties, 'file')} with properties of all {self.states:,} {self.what}{rest}"


def save_vnnlib(network: IntegerNetwork, program: Program, folder: Path) -> Covered:
    """Writes a property for each state, the model and `instances.csv` to a folder.

    Raises InputError if float32 is not exact, there are too many states, or the folder is not empty. `instances.csv` is
    written last; if it exists, the folder is complete.
    """
    check_exact_in_float32(network, program, 2)  # includes half a step above each threshold
    domain = StatesDomain(every_cell(program))
    if not any(kind.ports for kind in domain.pattern.kinds):
        raise InputError("this network has no ports, and therefore no bits to write properties for")
    most = max(1, min(MAX_PROPERTIES, MAX_COMPARISONS // (2 * program.templates + program.bits)))
    if domain.size > most:
        raise InputError(
            f"this network has {shorten(domain.size, 24)} states, but a folder can have properties for at most "
            f"{most:,}; export a network of the program's cells instead"
        )
    onnx_module()
    check_empty(folder, "properties")
    make_folder(folder)
    if not os.access(folder, os.W_OK):
        raise InputError(f"cannot write to {folder}: permission denied")
    columns = columns_of(network, program)
    names: list[str] = []
    cases = 0

    def look(matched: BoolArray, numbers: IntArray, step: int, times: int, own: slice) -> None:  # noqa: ARG001
        nonlocal cases
        for number, row, must in zip(numbers.tolist(), matched, written_bits(program, matched), strict=True):
            bits = range(program.bits)[own]
            if not row.any() or not bits:
                continue
            limits = network.thresholds[np.count_nonzero(row) - 1][columns]
            wrong = [(bit, "<=" if must[bit] else ">=", float(limits[bit]) + 0.5) for bit in bits]
            head = _head(network, domain, number, row, wrong)
            names.append(f"vnnlib/state_{number}.vnnlib")
            cases += len(wrong)
            (folder / names[-1]).write_text("\n".join([*head, *_text(row, program.bits, wrong), ""]))

    for part in ("onnx", "vnnlib"):
        make_folder(folder / part)
    save_sums_onnx(network, program, folder / MODEL)
    try:
        domain.visit(0, domain.size, look)
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror or error}") from None
    write_atomically(folder / "instances.csv", "".join(f"{MODEL},{name},{SECONDS}\n" for name in names).encode())
    what = "local states" if domain.name == "cells" else "states"
    return Covered(what, domain.size, len(names), cases)


Wrong = list[tuple[int, str, float]]  # bits, with comparisons that are true if they are wrong


def _head(
    network: IntegerNetwork, domain: StatesDomain, number: int, matched: BoolArray, wrong: Wrong
) -> Iterator[str]:
    """Yields comments on separate lines, because some readers do not support comments after code."""
    program = domain.program
    state, part = ("Local state", "port") if domain.name == "cells" else ("State", "bit")
    yield f"; {state} {number} of {shorten(domain.size, 24)}: unsat if all of its {part}s are correct, otherwise sat."
    yield "; Other states are not covered. Inputs are 0 or 1; sums are integers below 2^24, exact in float32."
    yield f"; network {network.digest}"
    yield f"; program {program.id}"
    for template in np.flatnonzero(matched).tolist():
        yield f"; X_{template} is 1: {program.template_text(template)}"
    for bit, sign, _ in wrong:
        yield f"; Y_{bit} is the sum of {program.layout.name_of(bit)}, which must be {'on' if sign == '<=' else 'off'}"


def _text(matched: BoolArray, outputs: int, wrong: Wrong) -> Iterator[str]:
    """Yields the property, with a variable for each input and output."""
    yield from (f"(declare-const X_{number} Real)" for number in range(len(matched)))
    yield from (f"(declare-const Y_{number} Real)" for number in range(outputs))
    for number, value in enumerate(matched.astype(float).tolist()):
        yield from (f"(assert ({sign} X_{number} {value}))" for sign in (">=", "<="))
    yield "(assert (or"
    yield from (f"(and ({sign} Y_{bit} {limit}))" for bit, sign, limit in wrong)
    yield "))"
