"""`bitwright export --to page` of a network of cells: which sort of page a program is for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bitwright.cli.targets import find_algorithm, given_lets, is_sbn, parse_values
from bitwright.errors import InputError

if TYPE_CHECKING:
    from bitwright.api.export.every_size import Maker
    from bitwright.api.export.pages import Page
    from bitwright.networks import IntegerNetwork
    from bitwright.program import Algorithm
    from bitwright.program.pattern import Pattern

_BITS = 10  # the size that a page begins with


def page_of_cells(
    network: IntegerNetwork,
    pattern: Pattern,
    target: str | None,
    bits: int | None,
    graph: str | None,
    pairs: Sequence[str],
) -> Page:
    """The page of a program whose cells are of the network's kinds."""
    from bitwright.api.export.pages import computer_page, graph_page, program_page
    from bitwright.api.open import SIZED, MachineChoice, is_image, open_subleq
    from bitwright.program import NodeProgram
    from bitwright.program.text.files import load_any

    if target is None:
        raise InputError(
            "a page of a network of cells needs a program to run; give --program, such as --program addition"
        )
    if is_image(target):
        _nothing_of("machine V", bits=bits, graph=graph, input=pairs)
        return computer_page(network, pattern, open_subleq(target, MachineChoice()))
    if target not in SIZED and not is_sbn(target, bits, None) and Path(target).exists():
        found = load_any(target, given_lets())
        if isinstance(found, NodeProgram):
            _nothing_of("a node program", bits=bits, input=pairs)
            return graph_page(network, pattern, found, graph)
    _nothing_of("a program without a graph", graph=graph)
    algorithm = find_algorithm(target, bits, default_bits=_BITS)
    return program_page(network, pattern, algorithm, parse_values(pairs), _sized(algorithm))


def _nothing_of(what: str, **options: object) -> None:
    for name, value in options.items():
        if value:
            raise InputError(f"--{name} does not go with {what}; leave it out")


def _sized(algorithm: Algorithm) -> tuple[str, int, Maker] | None:
    """The name of what a program's size is, this size, and how to make another; None where it has only one."""
    if (sizing := algorithm.sizing) is None or not sizing.numbers:
        return None
    name, value = next(iter(sizing.numbers.items()))  # the first is its size
    return name, value, lambda size: sizing.at(**{name: size})
