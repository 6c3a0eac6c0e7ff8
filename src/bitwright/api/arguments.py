"""What Python programs hand over, looked at before anything begins; what is wrong is an InputError with a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bitwright.api.engines import EngineChoice
from bitwright.bits import whole_number
from bitwright.errors import InputError, option, suggestion
from bitwright.program import Algorithm, NodeProgram

if TYPE_CHECKING:
    from bitwright.program.pattern import Pattern


def check_named(what: object, inputs: object) -> None:
    """Inputs are a dictionary, if they are given at all."""
    if not isinstance(inputs, Mapping | None):
        names = [word.name for word in what.inputs[:3]] if isinstance(what, Algorithm) else ["NAME"]
        form = ", ".join(f"'{name}': NUMBER" for name in names)
        raise InputError(
            f"inputs are given by name, or as a dictionary such as {{{form}}}, got a {type(inputs).__name__}"
        )


def check_once(inputs: object, values: Mapping[str, object]) -> None:
    """Raises InputError for an input that is given by name and in the dictionary."""
    if isinstance(inputs, Mapping) and (twice := [name for name in values if name in inputs]):
        raise InputError(f"input {twice[0]} is given twice, by name and in the dictionary; leave out one of them")


def as_array(name: str, value: Any) -> Any:
    """An array of another library, such as a tensor of PyTorch, as one of NumPy; anything else as it is."""
    if isinstance(value, np.ndarray) or not hasattr(value, "__array__") or not getattr(value, "ndim", 0):
        return value
    try:
        return np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"input {name} cannot be read as an array of NumPy: {error}") from None


def check_values(what: Algorithm | NodeProgram, names: Iterable[str], options: Sequence[str]) -> None:
    """Raises InputError for a name that is no input, and looks like a misspelt option rather than like an input."""
    words = what.schema().inputs if isinstance(what, NodeProgram) else what.inputs
    known = [word.name for word in words]
    for name in names:
        if name not in known and not suggestion(name, known) and (hint := suggestion(name, options)):
            raise InputError(f"{what.name} has no input '{name}'{hint}")


def check_options(given: Iterable[str], known: Sequence[str], what: str) -> None:
    """Raises InputError for an option that `what` has not."""
    for name in given:
        if name not in known:
            raise InputError(f"{what} has no option '{name}'{suggestion(name, known)}; there are {', '.join(known)}")


def check_batch(states: object, workers: int | None) -> None:
    """States are an array of bool, and workers a number of threads."""
    if not isinstance(states, np.ndarray) or states.dtype != bool:
        got = f"one of {states.dtype}" if isinstance(states, np.ndarray) else f"a {type(states).__name__}"
        raise InputError(f"states are a NumPy array of bool, got {got}")
    if workers is not None and whole_number(workers, "workers") < 1:
        raise InputError(f"workers are an integer of threads, 1 or more, got {workers}")


def pattern_asked(
    algorithms: Sequence[Algorithm], cells: bool, tile: int, n: str | None, padding: int | None = None
) -> Pattern | None:
    """The pattern of the cells of all these, where a proof or a size is to be of cells; sizes have one together."""
    from bitwright.program.pattern import pattern_of

    EngineChoice("limit", padding=padding, cells=cells, tile=tile).checked()
    if not cells:
        if len(algorithms) != 1:
            raise InputError(f"one proof for {len(algorithms):,} programs is one of their cells; add cells=True")
        return None
    if not algorithms:
        raise InputError("give at least one program, whose cells are meant")
    if n is not None:
        raise InputError(
            f"{option('n')} does not go with cells: n is the cell's own, at most one match in each of its blocks"
        )
    return pattern_of([one.program for one in algorithms], tile)
