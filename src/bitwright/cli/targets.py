"""How NAME or FILE on the command line becomes an algorithm, and NAME=NUMBER its inputs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bitwright.errors import InputError, suggestion

if TYPE_CHECKING:
    from bitwright.machines import Code, Machine
    from bitwright.program import Algorithm

NAMES = ("addition", "multiplication", "permutation")


def parse_order(text: str) -> list[int]:
    """`3,1,2` as a list of positions."""
    from bitwright.bits import parse_number

    return [parse_number(part, "each position of --order") for part in text.split(",")]


def find_algorithm(
    target: str,
    bits: int | None = None,
    order: str | None = None,
    default_bits: int = 4,
    machine: str | None = None,
) -> Algorithm:
    """The algorithm that a shipped name, a rule file or an SBN program stands for."""
    from bitwright.algorithms import addition, multiplication, permutation
    from bitwright.algorithms.sizes import check_bits
    from bitwright.program import load

    if Path(target).suffix.lower() == ".sbn":
        if bits is not None or order is not None:
            raise InputError("--bits and --order do not go with an SBN program; it has a .width of its own")
        return find_machine(target, machine)[2]
    if machine is not None:
        raise InputError("--machine goes with .sbn programs only")
    length = default_bits if bits is None else bits
    if target == "permutation":
        if order is not None and bits is not None:
            raise InputError("--order says how many bits there are; leave out --bits")
        return permutation(range(check_bits(length), 0, -1) if order is None else parse_order(order))
    if order is not None:
        raise InputError("--order goes with permutation only")
    if target == "addition":
        return addition(length)
    if target == "multiplication":
        return multiplication(length)
    if bits is not None:
        raise InputError(f"--bits goes with {', '.join(NAMES)}; in a rule file, change its 'let' line")
    if not Path(target).suffix and not Path(target).exists():
        raise InputError(f"'{target}' is neither a file nor one of {', '.join(NAMES)}{suggestion(target, NAMES)}")
    return load(target)


def find_machine(target: str, kind: str | None) -> tuple[Machine, Code, Algorithm]:
    """An SBN program on a machine of its size, padded so that the sign rule is certified for it."""
    from dataclasses import replace

    from bitwright.machines import load_sbn, machine_a, machine_b
    from bitwright.theory import smallest_examples

    code = load_sbn(target)
    machine = (machine_a if kind == "A" else machine_b)(code.sizes)
    algorithm = machine.algorithm(code)
    if machine.program.blocks < 50_000:  # beyond, the search for the padding takes longer than anyone would wait
        algorithm = replace(algorithm, examples=smallest_examples(machine.program))
    return machine, code, algorithm


def training_size(algorithm: Algorithm, rounding: str, padding: int | None) -> int:
    """K: the templates and the padding asked for, or what the algorithm declares for the sign rule."""
    templates = algorithm.program.templates
    if padding is not None:
        return templates + padding
    return max(templates, algorithm.examples or 0) if rounding == "sign" else templates


def parse_values(pairs: Sequence[str]) -> dict[str, int]:
    """`a=7 b=13` as a dictionary."""
    from bitwright.bits import parse_number, shorten

    values: dict[str, int] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise InputError(f"give inputs as NAME=NUMBER, such as a=7, got '{shorten(pair)}'")
        if name in values:
            raise InputError(f"input {name} is given twice")
        negative = re.match(r"\s*-\d", text) is not None
        size = parse_number(text.strip()[1:] if negative else text, f"input {name}")
        values[name] = -size if negative else size
    return values


def widest(algorithm: Algorithm) -> int:
    """The bit length of its longest input, or output if it has no input."""
    return max((len(word.bits) for word in algorithm.inputs or algorithm.outputs), default=0)
