"""Checks of arguments from Python, before any work begins; a wrong one is an InputError with a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bitwright.common.bits import whole_number
from bitwright.common.errors import InputError, suggestion
from bitwright.networks import Plan, Recipe
from bitwright.rules import Algorithm
from bitwright.rules.given import is_node_program
from bitwright.verbs.engines import check_options

if TYPE_CHECKING:
    from bitwright.rules import NodeProgram

_OWN_DEFAULT = ("width", "tolerance", "padding", "descent")  # where None is given
_OF_PLAN = ("tolerance", "descent", "parametrization", "rate", "most_steps")
RECIPE = ("width", "seed", "member", "start", "padding", *_OF_PLAN, "trainer", "device", "precision")


def check_named(what: object, inputs: object) -> None:
    """Raises InputError unless inputs are a dictionary or None."""
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
    """Converts an array of another library, such as a PyTorch tensor, to NumPy; returns anything else unchanged."""
    if isinstance(value, np.ndarray) or not hasattr(value, "__array__") or not getattr(value, "ndim", 0):
        return value
    try:
        return np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"input {name} cannot be read as an array of NumPy: {error}") from None


def check_values(what: Algorithm | NodeProgram, names: Iterable[str], options: Sequence[str]) -> None:
    """Raises InputError for a name that is no input and resembles an option more than an input."""
    words = what.schema().inputs if is_node_program(what) else what.inputs
    known = [word.name for word in words]
    for name in names:
        if name not in known and not suggestion(name, known) and (hint := suggestion(name, options)):
            raise InputError(f"{what.name} has no input '{name}'{hint}")


def check_batch(states: object, workers: int | None) -> None:
    """Raises InputError unless states are an array of bool, and workers a number of threads."""
    if not isinstance(states, np.ndarray) or states.dtype != bool:
        got = f"one of {states.dtype}" if isinstance(states, np.ndarray) else f"a {type(states).__name__}"
        raise InputError(f"states are a NumPy array of bool, got {got}")
    if workers is not None and whole_number(workers, "workers") < 1:
        raise InputError(f"workers are an integer of threads, 1 or more, got {workers}")


def make_recipe(
    width: Callable[[int], int], settings: Mapping[str, Any], given: Recipe | None = None, what: str = "train"
) -> Recipe:
    """The recipe with these settings; `width` gives the default width for a padding."""
    check_options(settings, RECIPE, what)
    if not isinstance(given, Recipe | None):
        raise InputError(f"recipe is a Recipe, got a {type(given).__name__}; give single settings by their names")
    named = {name: value for name, value in settings.items() if value is not None or name not in _OWN_DEFAULT}
    own = {name: named.pop(name) for name in _OF_PLAN if name in named}
    if given is not None:
        made = replace(given, plan=replace(given.plan, **own), **named)
    else:
        made = Recipe(**{"width": 2, **named}, plan=Plan(**own))
        if "width" not in named:
            made = replace(made, width=width(made.padding))
    if made.trainer == "torch":
        from bitwright.networks.descent import check_device

        check_device(made.device)
    return made
