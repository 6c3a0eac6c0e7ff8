"""What a network file was trained for, so that its bit length need not be given again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bitwright.errors import counted

if TYPE_CHECKING:
    from bitwright.networks.store import About
    from bitwright.program import Algorithm
    from bitwright.program.pattern import Pattern


def algorithm_of(about: About) -> Algorithm | None:
    """The shipped algorithm that a network was trained for, if it is one."""
    from bitwright.algorithms.known import known_algorithm

    return known_algorithm(about.bits, about.examples, about.origin.program_id)


def what_of(about: About) -> str:
    """What a network was trained for, in words."""
    from bitwright.program.pattern import read_pattern

    found = algorithm_of(about)
    pattern = read_pattern(about.bits, about.examples) if found is None else None
    return described(found, pattern, about.origin.program_id, len(about.bits), len(about.examples))


def described(algorithm: Algorithm | None, pattern: Pattern | None, program_id: str, bits: int, templates: int) -> str:
    """What a network was trained for: a name and a bit length, kinds of cells, or a program without a name."""
    if pattern is not None:
        kinds, states = counted(len(pattern.kinds), "kind"), counted(pattern.local_states, "local state")
        return f"cells of {kinds} ({counted(templates, 'example')}, {states})"
    if algorithm is None:
        return f"program {program_id[:13]}... ({counted(bits, 'bit')}, {counted(templates, 'template')})"
    return f"{algorithm.name} of {counted(length_of(algorithm), 'bit')}"


def length_of(algorithm: Algorithm) -> int:
    """The bit length of a shipped algorithm; all its inputs have the same."""
    return len(algorithm.inputs[0].bits)
