"""What a network file was trained for, so that its bit length need not be given again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bitwright.errors import InputError, counted, option

if TYPE_CHECKING:
    from bitwright.networks.store import About
    from bitwright.program import Algorithm
    from bitwright.program.pattern import Pattern


def files_of(options: Mapping[str, Any]) -> tuple[Path, ...]:
    """The network files that determine a size; none if the engine takes no files, which is refused later."""
    from bitwright.api.engines import EngineChoice

    files: tuple[Path, ...] = options["files"]
    if not files or not EngineChoice(options["engine"]).runs_trained or is_of_cells(files[0]):
        return ()
    return files


def is_of_cells(file: Path) -> bool:
    """Whether a file holds a network of cells, or one that was made elsewhere: neither says a size."""
    from bitwright.networks.cache import network_files
    from bitwright.networks.foreign import is_model
    from bitwright.networks.store import read_about
    from bitwright.program.pattern import read_pattern

    if is_model(file):
        return True
    about = read_about(network_files(file)[0])
    return read_pattern(about.bits, about.examples) is not None


def trained_algorithm(
    name: str,
    files: Sequence[Path],
    bits: int | None = None,
    order: Sequence[int] | None = None,
    values: Mapping[str, int] | None = None,
    counter: bool = False,
) -> Algorithm:
    """The algorithm of this name, in the size that the first of these networks was trained for.

    Raises InputError if it was trained for something else, for another size than is asked for, or if a value is too
    large.
    """
    from bitwright.algorithms.known import order_of
    from bitwright.bits import shorten, width_of
    from bitwright.networks.cache import network_files
    from bitwright.networks.store import read_about

    file = network_files(files[0])[0]
    about = read_about(file)
    found, trained = algorithm_of(about), f"{file} was trained for {what_of(about)}"
    if found is None or found.name != name:
        raise InputError(f"{trained}, not for {name}")
    length = length_of(found)
    if bits is not None and bits != length:
        raise InputError(f"{trained}, got {option('bits')} {shorten(bits)}; leave it out, or choose another network")
    if order is not None and list(order) != order_of(found):
        own, asked = (shorten(",".join(map(str, places))) for places in (order_of(found), order))
        raise InputError(
            f"{trained} in the order {own}, got {option('order')} {asked}; leave it out, or choose another network"
        )
    if counter and found.halt is None:
        raise InputError(f"{trained} without a counter, got {option('counter')}")
    for given, value in (values or {}).items():
        if value >= 0 and width_of(value) > length and given in {word.name for word in found.inputs}:
            raise InputError(f"{trained}; {given} is {shorten(value)}, which needs {width_of(value):,}")
    return found


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
