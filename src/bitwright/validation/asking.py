"""Asking a function of the user's: it takes the inputs by name, as numbers or as arrays of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import iscoroutine
from typing import Any

import numpy as np

from bitwright.bits import shorten
from bitwright.errors import InputError
from bitwright.validation.oracles import Values, shown


def answer_about_one(
    function: Callable[..., Any], name: str, outputs: tuple[str, ...], values: Values
) -> Mapping[str, Any] | None:
    """The outputs of one input by name; None where its run never ends."""
    found = _ask(function, name, values, ", ".join(f"{name}={value}" for name, value in values.items()))
    return found if found is None else _by_name(found, name, outputs)


def answer_about_arrays(
    function: Callable[..., Any], name: str, outputs: tuple[str, ...], values: Values, wide: bool
) -> Mapping[str, Any]:
    """The outputs of arrays, or of one input that is given by its numbers."""
    single = not any(isinstance(value, np.ndarray) for value in values.values())
    if single:
        kind = object if wide else np.int64
        values = {name: np.array([value], dtype=kind) for name, value in values.items()}
    count = len(next(iter(values.values()), "1"))
    found = _ask(function, name, values, f"arrays of {count:,} input{'s' * (count != 1)}")
    if found is None:
        raise InputError(f"the oracle {name} gave None; where a run never ends, an oracle of single inputs can say so")
    named = _by_name(found, name, outputs)
    if not single:
        return named
    return {name: column[0] if np.shape(column) == (1,) else column for name, column in named.items()}


def said(error: BaseException) -> str:
    """An exception in a few words, even one that cannot say what it is."""
    try:
        return shorten(" ".join(f"{type(error).__name__}: {error}".split()), 200)
    except Exception:
        return type(error).__name__


def _ask(function: Callable[..., Any], name: str, values: Values, given: str) -> Any:
    try:
        found = function(**values)
        if iscoroutine(found):
            found.close()
            raise InputError(f"the oracle {name} is an async function; give a plain one")
    except (KeyboardInterrupt, InputError):
        raise
    except BaseException as error:  # also SystemExit: an oracle that ends the process has not agreed to anything
        raise InputError(f"the oracle {name} failed on {given}: {said(error)}") from error
    return found


def _by_name(found: Any, name: str, outputs: tuple[str, ...]) -> Mapping[str, Any]:
    if isinstance(found, Mapping):
        return found
    if len(outputs) != 1:
        raise InputError(f"the oracle {name} must give a dictionary with {', '.join(outputs)}, got {shown(found)}")
    return {outputs[0]: found}
