"""A function of rows, called with one row at a time or with all: a network may do otherwise beside other rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.bits import shorten
from bitwright.errors import InputError


def by_rows(call: Callable[[NDArray[Any]], NDArray[Any]], inputs: NDArray[Any], alone: bool, name: str) -> NDArray[Any]:
    """The outputs; raises InputError unless each call gives one row of numbers for each of its own."""
    found: list[NDArray[Any]] = []
    for part in np.split(inputs, len(inputs)) if alone and len(inputs) else [inputs]:
        try:
            given = call(part)
        except InputError:
            raise
        except Exception as error:
            reason = shorten(" ".join(f"{type(error).__name__}: {error}".split()), 160)
            raise InputError(f"{name} failed on inputs of shape {part.shape}: {reason}") from None
        if given.dtype.kind not in "biuf":
            raise InputError(f"{name} gives outputs of type {given.dtype}; a network to certify gives numbers")
        if given.ndim != 2 or given.shape != (len(part), *(found or [given])[0].shape[1:]):
            raise InputError(
                f"{name} gives outputs of shape {given.shape} for {len(part):,} rows; a network to certify gives one "
                "row each"
            )
        found.append(given)
    return np.concatenate(found)
